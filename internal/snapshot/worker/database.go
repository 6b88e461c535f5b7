package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/quorate/quorate/internal/snapshot"
)

// Names of etcd's buckets and of what is in them (server/storage/schema).
var (
	keyBucket     = []byte("key")
	metaBucket    = []byte("meta")
	membersBucket = []byte("members")
	scheduledName = []byte("scheduledCompactRev")
	finishedName  = []byte("finishedCompactRev")
)

// lockTimeout bounds how long another process may hold the file.
const lockTimeout = 5 * time.Second

// reading opens a database, whose file is not changed, and hands it over at one moment.
func reading(path string, use func(tx *bolt.Tx) error) error {
	db, err := bolt.Open(path, 0o400, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		return fmt.Errorf("%w: open the database: %w", snapshot.ErrDamaged, err)
	}
	return errors.Join(db.View(use), db.Close())
}

// ordered goes through a bucket, and fails where a key does not come after the one
// before: bolt itself does not look, and pages that lead back would never end.
func ordered(b *bolt.Bucket, name []byte, use func(k, v []byte) error) error {
	var last []byte
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if last != nil && bytes.Compare(last, k) >= 0 {
			return fmt.Errorf("%w: bucket %q is out of order", snapshot.ErrDamaged, name)
		}
		last = append(last[:0], k...)
		if err := use(k, v); err != nil {
			return err
		}
	}
	return nil
}

// structure goes through all buckets.
func structure(tx *bolt.Tx) error {
	var last []byte
	c := tx.Cursor()
	for name, _ := c.First(); name != nil; name, _ = c.Next() {
		b := tx.Bucket(name)
		if b == nil || (last != nil && bytes.Compare(last, name) >= 0) {
			return fmt.Errorf("%w: its list of buckets", snapshot.ErrDamaged)
		}
		last = append(last[:0], name...)
		if bytes.Equal(name, keyBucket) {
			continue // gone through by those who want to know what is in it
		}
		if err := ordered(b, last, func(_, _ []byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// compacted is the revision up to which etcd was told to forget.
func compacted(tx *bolt.Tx) int64 {
	b, most := tx.Bucket(metaBucket), int64(0)
	if b == nil {
		return 0
	}
	for _, name := range [][]byte{scheduledName, finishedName} {
		if v := b.Get(name); len(v) >= 8 {
			most = max(most, int64(binary.BigEndian.Uint64(v)))
		}
	}
	return most
}
