package rejoin

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// segmentBytes makes the segments of these tests small: some entries each.
const segmentBytes = 8 << 10

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

// etcdBuckets are those of an etcd, in its order of creation but for meta.
var etcdBuckets = []string{"key", "members", "members_removed", "cluster", "lease", "alarm", "auth", "authUsers", "authRoles"}

// newBolt writes a bolt file with tombstones, as etcd would have it, and returns
// its path.
func newBolt(t testing.TB, dataDir string, removed ...ID) string {
	t.Helper()
	return bolt(t, dataDir, func(tx *bbolt.Tx) error {
		for _, name := range etcdBuckets {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		for _, id := range removed {
			if err := tx.Bucket([]byte("members_removed")).Put([]byte(id.String()), []byte("removed")); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), binary.BigEndian.AppendUint64(nil, 7))
	})
}

// bolt writes a bolt file with what change makes of the bucket meta alone.
func bolt(t testing.TB, dataDir string, change func(*bbolt.Tx) error) string {
	t.Helper()
	path := filepath.Join(dataDir, "member", "snap", "db")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte("meta"))
		return err
	}))
	must(t, db.Update(change))
	must(t, db.Close())
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// edit rewrites a file.
func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, change(data), 0o600))
}
