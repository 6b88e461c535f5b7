package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// page is what bolt's files are a multiple of: at least a disk's sector.
const page = 512

// trailer checks the sum at the end of a snapshot that is written to it, and sums the
// whole. A write never fails.
type trailer struct {
	sum  hash.Hash // over all but the tail
	tail [sha256.Size]byte
	size int64
}

func newTrailer() *trailer { return &trailer{sum: sha256.New()} }

// Write takes the next part: the last 32 bytes so far may be the sum.
func (t *trailer) Write(p []byte) (int, error) {
	kept := int(min(t.size, sha256.Size))
	t.size += int64(len(p))
	if out := kept + len(p) - sha256.Size; out > 0 {
		// out bytes are the sum no more: first those kept, then of the new ones.
		old := min(out, kept)
		t.sum.Write(t.tail[:old])
		t.sum.Write(p[:out-old])
		copy(t.tail[:], t.tail[old:kept])
		copy(t.tail[kept-old:], p[out-old:])
		return len(p), nil
	}
	copy(t.tail[kept:], p)
	return len(p), nil
}

// check tells whether what has come is whole.
func (t *trailer) check() error {
	switch {
	case t.size == 0:
		return fmt.Errorf("%w: it is empty", ErrTruncated)
	case t.size%page != sha256.Size || t.size == sha256.Size:
		return fmt.Errorf("%w: its %d bytes are no database with a sum behind it", ErrTruncated, t.size)
	case [sha256.Size]byte(t.sum.Sum(nil)) != t.tail:
		return fmt.Errorf("%w: %d bytes", ErrChecksum, t.size)
	}
	return nil
}

// whole is the sum over all, the tail included. Nothing is written after it.
func (t *trailer) whole() string {
	t.sum.Write(t.tail[:min(t.size, sha256.Size)])
	return "sha256:" + hex.EncodeToString(t.sum.Sum(nil))
}
