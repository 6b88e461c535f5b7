package tombstone

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The two meta pages of a bolt file, each after a page header of 16 bytes: magic,
// version, page size and flags (4 bytes each), then root page, sequence, freelist
// page, pages, transaction and checksum (8 bytes each), in the machine's byte order.
const (
	pageHeaderBytes = 16
	metaBytes       = 64
	pagesAt         = 40
	transactionAt   = 48
	checksumAt      = 56
)

// metas fails unless both meta pages are sound and follow each other. bbolt
// is content with one and goes back a transaction, which may be the one of the
// removal. A meta page lies within one sector, so that a crash does not tear it.
func metas(file io.ReaderAt, pageSize int64) error {
	var transactions [2]uint64
	for page := range transactions {
		var m [metaBytes]byte
		if _, err := file.ReadAt(m[:], int64(page)*pageSize+pageHeaderBytes); err != nil {
			return fmt.Errorf("read meta page %d: %w", page, err)
		}
		sum := fnv.New64a()
		_, _ = sum.Write(m[:checksumAt])
		if sum.Sum64() != binary.NativeEndian.Uint64(m[checksumAt:]) {
			return fmt.Errorf("meta page %d is damaged", page)
		}
		transactions[page] = binary.NativeEndian.Uint64(m[transactionAt:])
		if err := long(file, pageSize, binary.NativeEndian.Uint64(m[pagesAt:])); err != nil {
			return err
		}
	}
	a, b := transactions[0], transactions[1]
	if a+1 != b && b+1 != a {
		return fmt.Errorf("the meta pages are of transactions %d and %d", a, b)
	}
	return nil
}

// long fails if the file does not have all its pages: to touch one that is not
// there is a fault.
func long(file io.ReaderAt, pageSize int64, pages uint64) error {
	if pages > uint64(1<<62/pageSize) {
		return fmt.Errorf("the meta page counts %d pages", pages)
	}
	var b [1]byte
	if _, err := file.ReadAt(b[:], int64(pages)*pageSize-1); errors.Is(err, io.EOF) {
		return fmt.Errorf("it ends before the last of its %d pages", pages)
	} else if err != nil {
		return fmt.Errorf("read the last page: %w", err)
	}
	return nil
}
