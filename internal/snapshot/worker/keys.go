package worker

import (
	"bufio"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/quorate/quorate/internal/snapshot"
)

// keys writes those that are alive as frames.
func keys(path, prefix string, out *bufio.Writer) error {
	return reading(path, func(tx *bolt.Tx) error {
		b := tx.Bucket(keyBucket)
		if b == nil {
			return fmt.Errorf("%w: it is no database of etcd", snapshot.ErrDamaged)
		}
		return alive(b, prefix, batchSize, func(name string, _ []byte) error {
			return snapshot.WriteFrame(out, snapshot.FrameKey, []byte(name))
		})
	})
}
