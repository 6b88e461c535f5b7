package rejoin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"google.golang.org/protobuf/proto"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// The longest record that is believed, in bytes. etcd's decoder allocates whatever
// a record's length says if the file is as long.
const (
	// longestHeader is for the CRC and the metadata: two IDs.
	longestHeader = 4 << 10
	// longestRecord is for a request. etcd takes up to 1.5 MiB by default and calls
	// more than 10 MiB not recommended (--max-request-bytes).
	longestRecord = 16 << 20
	// MaxRequest is the largest request that etcd may be configured to take, since
	// the record of a larger one would not be believed.
	MaxRequest = longestRecord - longestHeader
	// frameBytes is the length before each record.
	frameBytes = 8
)

// segment is one file of a WAL, read by etcd's own decoder.
type segment struct {
	file    *os.File
	info    fs.FileInfo
	longest int64
	decoder wal.Decoder
	// crc is the running checksum before the record that was read last.
	crc uint32
}

func openSegment(path string, longest int64) (*segment, error) {
	file, info, err := witness.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("open a segment: %w", err)
	}
	s := &segment{file: file, info: info, longest: longest}
	s.decoder = wal.NewDecoder(s)
	return s, nil
}

func (s *segment) close() { _ = s.file.Close() }

// Read and FileInfo are what etcd's decoder needs of a file.
func (s *segment) Read(p []byte) (int, error) { return s.file.Read(p) }

// FileInfo gives a size that ends one longest record after what was read: the
// decoder refuses a longer one before it allocates it.
func (s *segment) FileInfo() (fs.FileInfo, error) { return bounded{s.info, s}, nil }

type bounded struct {
	fs.FileInfo
	segment *segment
}

func (b bounded) Size() int64 {
	return min(b.FileInfo.Size(), b.segment.decoder.LastOffset()+frameBytes+b.segment.longest)
}

// next reads a record. A CRC record continues the checksum of what was before it.
func (s *segment) next(rec *walpb.Record) error {
	s.crc = s.decoder.LastCRC()
	if err := s.decoder.Decode(rec); err != nil {
		return err
	}
	if rec.GetType() != wal.CrcType {
		return nil
	}
	if s.crc != 0 && rec.GetCrc() != s.crc {
		return wal.ErrCRCMismatch
	}
	s.decoder.UpdateCRC(rec.GetCrc())
	return nil
}

// header is how every segment begins, the purged first ones' successors too.
type header struct {
	// crc is the checksum with which the segment before it has ended.
	crc                 uint32
	memberID, clusterID ID
}

var (
	errNoHeader = errors.New("it does not begin with etcd's IDs")
	errTorn     = errors.New("a record is torn")
	errChecksum = errors.New("the checksum is wrong")
	// errGarbled stands for protobuf's errors, whose text differs from run to run.
	errGarbled = errors.New("it is no message of its type")
)

// plain is an error of etcd's decoder in few words.
func plain(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errTorn
	case errors.Is(err, wal.ErrCRCMismatch):
		return errChecksum
	case errors.Is(err, proto.Error):
		return errGarbled
	}
	return err
}

func (s *segment) header() (header, error) {
	var rec walpb.Record
	if err := s.nextOf(&rec, wal.CrcType); err != nil {
		return header{}, err
	}
	out := header{crc: rec.GetCrc()}
	if err := s.nextOf(&rec, wal.MetadataType); err != nil {
		return header{}, err
	}
	var metadata etcdserverpb.Metadata
	if err := proto.Unmarshal(rec.GetData(), &metadata); err != nil {
		return header{}, fmt.Errorf("%s: %w: %w", s.file.Name(), errNoHeader, errGarbled)
	}
	out.memberID, out.clusterID = ID(metadata.GetNodeID()), ID(metadata.GetClusterID())
	if out.memberID == 0 || out.clusterID == 0 {
		return header{}, fmt.Errorf("%s: %w", s.file.Name(), errNoHeader)
	}
	return out, nil
}

// nextOf reads a record that must be of the given type.
func (s *segment) nextOf(rec *walpb.Record, want int64) error {
	err := s.next(rec)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: %w: it is blank", s.file.Name(), errNoHeader)
	case err != nil:
		return fmt.Errorf("%s: %w: %w", s.file.Name(), errNoHeader, plain(err))
	case rec.GetType() != want:
		return fmt.Errorf("%s: %w: a record of type %d", s.file.Name(), errNoHeader, rec.GetType())
	}
	return nil
}
