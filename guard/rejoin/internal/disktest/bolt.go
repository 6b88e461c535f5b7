package disktest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// Buckets are those of an etcd, in its order of creation but for meta.
var Buckets = []string{"key", "members", "members_removed", "cluster", "lease", "alarm", "auth", "authUsers", "authRoles"}

// NewBolt writes a bolt file with tombstones, as etcd would have it, and returns
// its path.
func NewBolt(t testing.TB, dataDir string, removed ...witness.ID) string {
	t.Helper()
	return WriteBolt(t, dataDir, func(tx *bbolt.Tx) error {
		for _, name := range Buckets {
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

// WriteBolt writes a bolt file with what change makes of the bucket meta alone.
func WriteBolt(t testing.TB, dataDir string, change func(*bbolt.Tx) error) string {
	t.Helper()
	path := filepath.Join(dataDir, "member", "snap", "db")
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	Must(t, err)
	Must(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte("meta"))
		return err
	}))
	Must(t, db.Update(change))
	Must(t, db.Close())
	return path
}

// Where a meta page has what LoopBolt needs, in bytes.
const (
	pageHeaderBytes = 16
	rootAt          = 16
	transactionAt   = 48
)

// LoopBolt makes the page of the root bucket a branch that leads to itself: bbolt then
// descends until its stack is full, which no program survives.
func LoopBolt(t testing.TB, path string) {
	Edit(t, path, func(b []byte) []byte {
		page := os.Getpagesize()
		meta := b[pageHeaderBytes:]
		if second := b[page+pageHeaderBytes:]; binary.NativeEndian.Uint64(second[transactionAt:]) > binary.NativeEndian.Uint64(meta[transactionAt:]) {
			meta = second
		}
		root := binary.NativeEndian.Uint64(meta[rootAt:])
		p := b[int(root)*page:]
		binary.NativeEndian.PutUint16(p[8:], 1)                // a branch
		binary.NativeEndian.PutUint16(p[10:], 1)               // of one element
		binary.NativeEndian.PutUint32(p[pageHeaderBytes:], 16) // whose key is after it
		binary.NativeEndian.PutUint32(p[pageHeaderBytes+4:], 1)
		binary.NativeEndian.PutUint64(p[pageHeaderBytes+8:], root)
		return b
	})
}
