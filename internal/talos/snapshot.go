package talos

import (
	"context"
	"errors"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// Snapshot streams the database of the node's own member and, at its end, 32 bytes of
// SHA-256 over it. Talos swallows errors of reading: a stream that was cut at the node
// ends in io.EOF as a whole one does, and that sum alone tells them apart. ctx bounds
// the whole stream; Close ends it at once and is always due.
func (r *Restorer) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	one := r.begin(ctx, r.timeouts.Transfer, "read a snapshot of etcd")
	stream, err := r.machine.EtcdSnapshot(one.ctx, &machine.EtcdSnapshotRequest{})
	if err != nil {
		defer one.end()
		return nil, one.fail(err)
	}
	s := &snapshot{call: one, stream: stream}
	switch err := s.next(); {
	case errors.Is(err, io.EOF):
		defer one.end()
		return nil, one.fail(errEmpty)
	case err != nil:
		defer one.end()
		return nil, err
	}
	return s, nil
}

// snapshot is a stream of which the first part has come.
type snapshot struct {
	call   *call
	stream machine.MachineService_EtcdSnapshotClient
	part   []byte
}

// next waits for a part that is not empty.
func (s *snapshot) next() error {
	for len(s.part) == 0 {
		var data *common.Data
		err := s.call.step(func() (err error) { data, err = s.stream.Recv(); return err })
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if text := data.GetMetadata().GetError(); err == nil && text != "" {
			err = errors.New(text)
		}
		if err != nil {
			return s.call.fail(err)
		}
		s.part = data.GetBytes()
	}
	return nil
}

// Read implements io.Reader.
func (s *snapshot) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.next(); err != nil {
		return 0, err
	}
	n := copy(p, s.part)
	s.part = s.part[n:]
	return n, nil
}

// Close implements io.Closer. It never fails.
func (s *snapshot) Close() error {
	s.call.end()
	return nil
}
