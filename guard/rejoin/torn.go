package rejoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"google.golang.org/protobuf/encoding/protowire"
)

// sector is what a disk writes whole or not at all, in bytes, by etcd's own reckoning.
const sector = 512

// end judges why a segment could not be read further: nil if the log ends there.
//
// etcd takes three things for the end of a log: a length of zero, a record that goes
// beyond the file, and one of which a whole sector is zero. It drops what comes
// after. A damaged length or a zeroed page looks the same and must not drop a
// removal, so here nothing but zeros may follow, no whole record may be in what is
// dropped, and the length must be that of the record. A crash that wrote the second
// page of a long batch and not the first is refused with them.
//
// What cannot be told from an honest crash: a log that was cut, or zeroed to its
// end, at a record or within one.
func (s *segment) end(cause error, last bool) error {
	at := s.decoder.LastOffset()
	if errors.Is(cause, io.EOF) {
		return s.blank(at, "a blank")
	}
	if !last || !errors.Is(cause, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s at offset %d: %w", s.file.Name(), at, plain(cause))
	}
	return s.torn(at)
}

// torn judges the record at an offset, which etcd's repair would cut off.
func (s *segment) torn(at int64) error {
	size := s.info.Size()
	if size-at < frameBytes {
		return nil
	}
	var frame [frameBytes]byte
	if _, err := s.file.ReadAt(frame[:], at); err != nil {
		return fmt.Errorf("read a torn record: %w", err)
	}
	length, padding := frameOf(frame[:])
	if length > longestRecord {
		return fmt.Errorf("%s at offset %d: a record claims %d bytes", s.file.Name(), at, length)
	}
	body := make([]byte, min(length+padding, size-at-frameBytes))
	if _, err := s.file.ReadAt(body, at+frameBytes); err != nil {
		return fmt.Errorf("read a torn record: %w", err)
	}
	if !fits(body[:min(int64(len(body)), sector-(at+frameBytes)%sector)], length) {
		return fmt.Errorf("%s at offset %d: a record with a broken length", s.file.Name(), at)
	}
	if holdsRecord(body) {
		return fmt.Errorf("%s at offset %d: a broken record with others after it", s.file.Name(), at)
	}
	return s.blank(at+frameBytes+int64(len(body)), "a broken record")
}

// blank fails if there is anything but zeros from an offset on.
func (s *segment) blank(from int64, after string) error {
	buffer, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := from; ; {
		n, err := s.file.ReadAt(buffer, at)
		if !bytes.Equal(buffer[:n], zeros[:n]) {
			return fmt.Errorf("%s at offset %d: data after %s", s.file.Name(), from, after)
		}
		if at += int64(n); errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the end of %s: %w", s.file.Name(), err)
		}
	}
}

// frameOf is a record's length and padding, in bytes: see encodeFrameSize in etcd.
func frameOf(frame []byte) (length, padding int64) {
	n := binary.LittleEndian.Uint64(frame)
	if n>>63 == 1 {
		padding = int64(n >> 56 & 7)
	}
	return int64(n & (1<<56 - 1)), padding
}

// fits tells whether a record of which this is the first sector has the length that
// its frame gives: it can be told from within as well. A sector that was never
// written, or that ends too early, contradicts nothing.
func fits(first []byte, length int64) bool {
	if !slices.ContainsFunc(first, notZero) {
		return true
	}
	n, err := lengthOf(first)
	return errors.Is(err, io.ErrUnexpectedEOF) || err == nil && n == length
}

func notZero(b byte) bool { return b != 0 }

// holdsRecord tells whether a record is somewhere within the bytes. Frames are
// aligned to 8 bytes. Its checksum depends on what was before it and cannot be
// asked; a value that holds such bytes is taken for one, which errs to refusing.
func holdsRecord(body []byte) bool {
	for ; len(body) >= frameBytes; body = body[frameBytes:] {
		length, padding := frameOf(body)
		end := frameBytes + length + padding
		if length == 0 || padding != -length&7 || end > int64(len(body)) {
			continue
		}
		n, err := lengthOf(body[frameBytes : frameBytes+length])
		if err == nil && n == length && !slices.ContainsFunc(body[frameBytes+length:end], notZero) {
			return true
		}
	}
	return false
}

// lengthOf is how long the walpb.Record is that begins here, by its own account:
// type, checksum and data, each a tag and a number, in the order in which etcd
// writes them. It fails with io.ErrUnexpectedEOF if the bytes end too early for that.
func lengthOf(body []byte) (int64, error) {
	rest := body
	for field, most := range []uint64{uint64(wal.SnapshotType), 1<<32 - 1, longestRecord} {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		value, m := protowire.ConsumeVarint(rest[n:])
		if m < 0 {
			return 0, protowire.ParseError(m)
		}
		if number != protowire.Number(field+1) || kind != recordFields[field] || value > most {
			return 0, errGarbled
		}
		rest = rest[n+m:]
		if kind == protowire.BytesType {
			return int64(len(body)-len(rest)) + int64(value), nil
		}
	}
	return 0, errGarbled
}

var recordFields = [...]protowire.Type{protowire.VarintType, protowire.VarintType, protowire.BytesType}
