package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// FrameKind says what a frame of the child's answer holds.
type FrameKind byte

// An answer is frames: FrameOpened before the database is opened, any number of
// FrameKey, and at its end FrameDone or FrameFailed. An answer without an end is of a
// child that died.
const (
	FrameOpened FrameKind = 'o'
	FrameKey    FrameKind = 'k'
	FrameDone   FrameKind = 'd' // the result in JSON
	FrameFailed FrameKind = 'f' // Failure in JSON
)

// MaxFrame bounds what a frame holds, in bytes: etcd takes no key that is larger than a
// request, which is 1.5 MiB.
const MaxFrame = 2 << 20

// Failure is why a child could not do its work.
type Failure struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// WriteFrame writes one.
func WriteFrame(w io.Writer, kind FrameKind, data []byte) error {
	if len(data) > MaxFrame {
		return fmt.Errorf("write a frame: it has %d bytes, and at most %d are read", len(data), MaxFrame)
	}
	head := append([]byte{byte(kind)}, binary.BigEndian.AppendUint32(nil, uint32(len(data)))...)
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	return nil
}

var (
	// errEnded: the child wrote no more before the end of its answer.
	errEnded = errors.New("its answer has no end")
	// errGarbled: it wrote what is no answer.
	errGarbled = fmt.Errorf("%w: the child wrote what is no answer", ErrWorker)
)

// readFrame reads the next one. Whoever reads trusts the child no more than its file.
func readFrame(r *bufio.Reader) (FrameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, errEnded
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > MaxFrame {
		return 0, nil, errGarbled
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, errEnded
	}
	return FrameKind(head[0]), data, nil
}
