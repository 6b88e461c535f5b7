package rejoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// end judges why a segment could not be read further: nil if the log ends there.
//
// etcd takes three things for the end of a log: a length of zero, a record that goes
// beyond the file, and one of which a whole sector is zero. It drops what comes
// after. A damaged length or a zeroed page looks the same and must not drop a
// removal, so here nothing but zeros may follow, and no whole record may be in what
// is dropped.
func (s *segment) end(cause error, last bool) error {
	at := s.decoder.LastOffset()
	if errors.Is(cause, io.EOF) {
		return s.blank(at, "a blank")
	}
	if !last || !errors.Is(cause, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s at offset %d: %w", s.file.Name(), at, cause)
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
	if whole(body, s.crc) || holdsRecord(body) {
		return fmt.Errorf("%s at offset %d: a broken record with others after it", s.file.Name(), at)
	}
	return s.blank(at+frameBytes+int64(len(body)), "a broken record")
}

// blank fails if there is anything but zeros from an offset on.
func (s *segment) blank(from int64, after string) error {
	buffer, zeros := make([]byte, 256<<10), make([]byte, 256<<10)
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

// whole tells whether the bytes begin with a record that has the right checksum,
// whatever length its frame gives.
func whole(body []byte, crc uint32) bool {
	r, _, ok := parse(body)
	return ok && r.crc == crc32.Update(crc, castagnoli, r.data)
}

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
		_, n, ok := parse(body[frameBytes : frameBytes+length])
		if ok && int64(n) == length && !slices.ContainsFunc(body[frameBytes+length:end], func(b byte) bool { return b != 0 }) {
			return true
		}
	}
	return false
}

type record struct {
	crc  uint32
	data []byte
}

// parse reads type, checksum and data of a walpb.Record, in the order in which etcd
// writes them, and tells how many bytes they are.
func parse(body []byte) (r record, n int, ok bool) {
	kind, rest, ok := varint(body, 1)
	if !ok || kind == 0 || kind > 5 {
		return record{}, 0, false
	}
	crc, rest, ok := varint(rest, 2)
	if !ok || crc > 1<<32-1 {
		return record{}, 0, false
	}
	r.crc = uint32(crc)
	if number, wire, m := protowire.ConsumeTag(rest); m > 0 && number == 3 && wire == protowire.BytesType {
		data, l := protowire.ConsumeBytes(rest[m:])
		if l < 0 {
			return record{}, 0, false
		}
		r.data, rest = data, rest[m+l:]
	}
	return r, len(body) - len(rest), true
}

func varint(body []byte, field protowire.Number) (uint64, []byte, bool) {
	number, wire, n := protowire.ConsumeTag(body)
	if n < 0 || number != field || wire != protowire.VarintType {
		return 0, nil, false
	}
	v, m := protowire.ConsumeVarint(body[n:])
	if m < 0 {
		return 0, nil, false
	}
	return v, body[n+m:], true
}
