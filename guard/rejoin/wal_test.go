package rejoin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"google.golang.org/protobuf/proto"
)

//
func TestReadDisk(t *testing.T) {
	member := func(dir string) string { return filepath.Join(dir, "member") }
	walDir := func(dir string) string { return filepath.Join(dir, "member", "wal") }
	long := func(t *testing.T, dir string) *logWriter {
		l := newLog(t, dir)
		l.fill(100, 500)
		l.close()
		return l
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want DiskState
		why  string // DIR is the data directory
	}{
		{"no data directory", func(t *testing.T, dir string) { must(t, os.Remove(dir)) }, NoWAL, ""},
		{"wiped", func(*testing.T, string) {}, NoWAL, ""},
		{"an empty WAL directory", func(t *testing.T, dir string) { must(t, os.MkdirAll(walDir(dir), 0o700)) }, NoWAL, ""},
		{"a WAL that etcd was killed before it had made", func(t *testing.T, dir string) {
			long(t, dir)
			must(t, os.Rename(walDir(dir), walDir(dir)+".tmp"))
		}, NoWAL, ""},
		{"one segment", func(t *testing.T, dir string) { newLog(t, dir).close() }, HasWAL, ""},
		{"many segments", func(t *testing.T, dir string) { long(t, dir) }, HasWAL, ""},
		{"the first segments purged", func(t *testing.T, dir string) {
			l := long(t, dir)
			for _, path := range l.segments()[:3] {
				must(t, os.Remove(path))
			}
		}, HasWAL, ""},
		{"the newest preallocated and blank", func(t *testing.T, dir string) {
			must(t, os.WriteFile(long(t, dir).last(), make([]byte, segmentBytes), 0o600))
		}, HasWAL, ""},
		{"the newest empty", func(t *testing.T, dir string) { must(t, os.Truncate(long(t, dir).last(), 0)) }, HasWAL, ""},
		{"the newest garbage", func(t *testing.T, dir string) {
			must(t, os.WriteFile(long(t, dir).last(), bytes.Repeat([]byte("garbage!"), 100), 0o600))
		}, HasWAL, ""},
		{"torn after the header", func(t *testing.T, dir string) {
			l := newLog(t, dir)
			l.close()
			must(t, os.Truncate(l.last(), 100))
		}, HasWAL, ""},
		{"a foreign file beside", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(long(t, dir).last()), "zz.wal"), nil, 0o600))
		}, HasWAL, ""},
		{"torn in the header", func(t *testing.T, dir string) {
			l := newLog(t, dir)
			l.close()
			must(t, os.Truncate(l.last(), 30))
		}, UnreadableWAL, "DIR/member/wal/0000000000000000-0000000000000000.wal: it does not begin with etcd's IDs: a record is torn"},
		{"every segment blank", func(t *testing.T, dir string) {
			for _, path := range long(t, dir).segments() {
				must(t, os.WriteFile(path, make([]byte, segmentBytes), 0o600))
			}
		}, UnreadableWAL, "DIR/member/wal/0000000000000006-0000000000000061.wal: it does not begin with etcd's IDs: it is blank"},
		{"a flipped ID", func(t *testing.T, dir string) {
			l := newLog(t, dir)
			l.close()
			edit(t, l.last(), func(b []byte) []byte {
				at := bytes.Index(b, []byte{0x08, byte(me), 0x10, byte(ours)})
				b[at+1] ^= 1
				return b
			})
		}, UnreadableWAL, "DIR/member/wal/0000000000000000-0000000000000000.wal: it does not begin with etcd's IDs: the checksum is wrong"},
		{"IDs of nobody", func(t *testing.T, dir string) {
			foreign(t, walDir(dir), &etcdserverpb.Metadata{NodeID: new(uint64(0)), ClusterID: new(uint64(ours))})
		}, UnreadableWAL, "DIR/member/wal/0000000000000000-0000000000000000.wal: it does not begin with etcd's IDs"},
		{"segments of two members", func(t *testing.T, dir string) {
			newLog(t, dir).close()
			foreign(t, dir+"/other", &etcdserverpb.Metadata{NodeID: new(uint64(0xb)), ClusterID: new(uint64(ours))})
			must(t, os.Rename(dir+"/other/0000000000000000-0000000000000000.wal", walDir(dir)+"/0000000000000001-0000000000000001.wal"))
		}, UnreadableWAL, "DIR/member/wal/0000000000000000-0000000000000000.wal is of member a of cluster c and the segment after it of member b of cluster c"},
		{"a hostile length", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(walDir(dir), 0o700))
			path := walDir(dir) + "/0000000000000000-0000000000000000.wal"
			must(t, os.WriteFile(path, []byte{0, 0, 0, 0, 0xff, 0, 0, 0, 1}, 0o600))
			must(t, os.Truncate(path, 2<<40))
		}, UnreadableWAL, "DIR/member/wal/0000000000000000-0000000000000000.wal: it does not begin with etcd's IDs: a record is torn"},
		{"no segment by name", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(walDir(dir), 0o700))
			must(t, os.WriteFile(walDir(dir)+"/1.wal", nil, 0o600))
		}, UnreadableWAL, "DIR/member/wal/1.wal is not named as a segment"},
		{"a file for the data directory", func(t *testing.T, dir string) {
			must(t, os.Remove(dir))
			must(t, os.WriteFile(dir, nil, 0o600))
		}, UnreadableWAL, "list the WAL: open DIR/member/wal: not a directory"},
		{"a file for the WAL directory", func(t *testing.T, dir string) {
			must(t, os.Mkdir(member(dir), 0o700))
			must(t, os.WriteFile(walDir(dir), nil, 0o600))
		}, UnreadableWAL, "list the WAL: open DIR/member/wal: not a directory"},
		{"a link that leads nowhere", func(t *testing.T, dir string) { must(t, os.Symlink(dir+"/gone", member(dir))) }, UnreadableWAL, "DIR/member is a link that leads nowhere"},
		{"a link to itself", func(t *testing.T, dir string) { must(t, os.Symlink(member(dir), member(dir))) }, UnreadableWAL, "list the WAL: open DIR/member/wal: too many levels of symbolic links"},
		{"a folder for a segment", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(walDir(dir)+"/0000000000000000-0000000000000000.wal", 0o700))
		}, UnreadableWAL, "open a segment: DIR/member/wal/0000000000000000-0000000000000000.wal is no regular file"},
		{"a pipe for a segment", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(walDir(dir), 0o700))
			must(t, syscall.Mkfifo(walDir(dir)+"/0000000000000000-0000000000000000.wal", 0o600))
		}, UnreadableWAL, "open a segment: DIR/member/wal/0000000000000000-0000000000000000.wal is no regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o700))
			c.make(t, dir)
			want := Disk{State: c.want, Why: strings.ReplaceAll(c.why, "DIR", dir)}
			if c.want == HasWAL {
				want.MemberID, want.ClusterID = me, ours
			}
			before := listFiles(t, dir)
			if got := ReadDisk(dir); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if after := listFiles(t, dir); before != after {
				t.Errorf("the directory was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// foreign writes a WAL with other metadata.
func foreign(t *testing.T, dir string, m *etcdserverpb.Metadata) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	metadata, err := proto.Marshal(m)
	must(t, err)
	w, err := wal.Create(nil, dir, metadata)
	must(t, err)
	must(t, w.Close())
}
