package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// The member whose disk is judged, and its cluster.
const (
	memberID  = 0xa1b2c3d4e5f60718
	clusterID = 0xc0ffee0123456789
)

const (
	entryBytes = 4 << 10
	batch      = 64
	valueBytes = 1 << 20
	dbBytes    = 2 << 30
)

// writeWAL writes committed entries with etcd's own package until there are that
// many bytes of them.
func writeWAL(dir string, size int64) error {
	metadata, err := proto.Marshal(&etcdserverpb.Metadata{NodeID: new(uint64(memberID)), ClusterID: new(uint64(clusterID))})
	if err != nil {
		return fmt.Errorf("write a WAL: %w", err)
	}
	w, err := wal.Create(nil, dir, metadata)
	if err != nil {
		return fmt.Errorf("write a WAL: %w", err)
	}
	w.SetUnsafeNoFsync()
	noise := noise(entryBytes)
	for index := uint64(0); index*entryBytes < uint64(size); {
		entries := make([]*raftpb.Entry, batch)
		for i := range entries {
			index++
			entries[i] = &raftpb.Entry{Term: new(uint64(2)), Index: new(index), Data: noise}
		}
		if err := w.Save(&raftpb.HardState{Term: new(uint64(2)), Vote: new(uint64(memberID)), Commit: new(index)}, entries); err != nil {
			return fmt.Errorf("write a WAL: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write a WAL: %w", err)
	}
	return nil
}

// writeDB writes a bolt file with the buckets that matter and values of 1 MiB.
func writeDB(path string) error {
	return update(path, func(db *bbolt.DB) error {
		for _, name := range []string{"meta", "key", "members", "members_removed", "cluster"} {
			if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte(name)); return err }); err != nil {
				return err
			}
		}
		value := noise(valueBytes)
		for revision := uint64(0); revision < dbBytes/valueBytes; revision += batch {
			if err := db.Update(func(tx *bbolt.Tx) error { return fill(tx, revision, value) }); err != nil {
				return err
			}
		}
		return nil
	})
}

func fill(tx *bbolt.Tx, from uint64, value []byte) error {
	for revision := from; revision < from+batch; revision++ {
		if err := tx.Bucket([]byte("key")).Put(binary.BigEndian.AppendUint64(nil, revision), value); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), binary.BigEndian.AppendUint64(nil, from+batch))
}

// bury sets or takes away the member's tombstone.
func bury(path string, removed bool) error {
	key := []byte(strconv.FormatUint(memberID, 16))
	return update(path, func(db *bbolt.DB) error {
		return db.Update(func(tx *bbolt.Tx) error {
			if !removed {
				return tx.Bucket([]byte("members_removed")).Delete(key)
			}
			return tx.Bucket([]byte("members_removed")).Put(key, []byte("removed"))
		})
	})
}

func update(path string, change func(*bbolt.DB) error) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	if err := change(db); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", path, err)
	}
	return nil
}

// place makes a data directory with a WAL of its own and the bolt file of all.
func place(dataDir, db string, walBytes int64) error {
	snap := filepath.Join(dataDir, "member", "snap")
	if err := os.MkdirAll(snap, 0o700); err != nil {
		return fmt.Errorf("make a data directory: %w", err)
	}
	if err := os.Link(db, filepath.Join(snap, "db")); err != nil {
		return fmt.Errorf("make a data directory: %w", err)
	}
	return writeWAL(filepath.Join(dataDir, "member", "wal"), walBytes)
}

func noise(size int) []byte {
	out := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(out)
	return out
}
