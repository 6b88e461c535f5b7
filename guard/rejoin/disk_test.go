package rejoin

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/quorate/quorate/guard/rejoin/internal/disktest"
)

// segmentBytes makes the segments of these tests small: some entries each.
const segmentBytes = 8 << 10

var (
	must      = disktest.Must
	edit      = disktest.Edit
	listFiles = disktest.Listing
	newBolt   = disktest.NewBolt
)

func init() { wal.SegmentSizeBytes = segmentBytes }

// ledgerOf a log that is being written.
type logWriter struct {
	t     testing.TB
	dir   string
	wal   *wal.WAL
	index uint64
}

// newLog begins the WAL of member me of cluster ours as etcd does.
func newLog(t testing.TB, dataDir string) *logWriter {
	t.Helper()
	dir := filepath.Join(dataDir, "member", "wal")
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	metadata, err := proto.Marshal(&etcdserverpb.Metadata{NodeID: new(uint64(me)), ClusterID: new(uint64(ours))})
	must(t, err)
	w, err := wal.Create(nil, dir, metadata)
	must(t, err)
	w.SetUnsafeNoFsync()
	t.Cleanup(func() { _ = w.Close() })
	return &logWriter{t: t, dir: dir, wal: w}
}

// save appends entries and a hard state with the commit index.
func (l *logWriter) save(commit uint64, entries ...*raftpb.Entry) {
	l.t.Helper()
	for _, e := range entries {
		l.index++
		e.Index, e.Term = new(l.index), new(uint64(1))
	}
	must(l.t, l.wal.Save(&raftpb.HardState{Term: new(uint64(1)), Vote: new(uint64(1)), Commit: &commit}, entries))
}

// fill writes committed entries of the given size.
func (l *logWriter) fill(count, size int) {
	l.t.Helper()
	for range count {
		l.save(l.index+1, put(size))
	}
}

// cut writes committed entries until a new segment begins.
func (l *logWriter) cut() {
	l.t.Helper()
	for n := len(l.segments()); len(l.segments()) == n; {
		l.fill(1, 900)
	}
}

func (l *logWriter) close() { must(l.t, l.wal.Close()) }

func (l *logWriter) segments() []string {
	l.t.Helper()
	paths, err := filepath.Glob(filepath.Join(l.dir, "*.wal"))
	must(l.t, err)
	slices.Sort(paths)
	return paths
}

func (l *logWriter) last() string { s := l.segments(); return s[len(s)-1] }

func put(size int) *raftpb.Entry {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i*7 + size)
	}
	return &raftpb.Entry{Type: raftpb.EntryNormal.Enum(), Data: data}
}

func conf(t raftpb.ConfChangeType, id ID) *raftpb.Entry {
	data, err := proto.Marshal(&raftpb.ConfChange{Type: &t, NodeId: new(uint64(id)), Id: new(uint64(1))})
	if err != nil {
		panic(err)
	}
	return &raftpb.Entry{Type: raftpb.EntryConfChange.Enum(), Data: data}
}

func conf2(t raftpb.ConfChangeType, id ID) *raftpb.Entry {
	data, err := proto.Marshal(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{Type: &t, NodeId: new(uint64(id))}}})
	if err != nil {
		panic(err)
	}
	return &raftpb.Entry{Type: raftpb.EntryConfChangeV2.Enum(), Data: data}
}

func snapshot(index uint64) *walpb.Snapshot {
	return &walpb.Snapshot{Index: &index, Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: []uint64{1}}}
}

func add(id ID) *raftpb.Entry    { return conf(raftpb.ConfChangeAddNode, id) }
func remove(id ID) *raftpb.Entry { return conf(raftpb.ConfChangeRemoveNode, id) }
