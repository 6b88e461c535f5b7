package talos

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// uploadChunk is how much of a snapshot goes in one message, in bytes.
const uploadChunk = 64 << 10

// Recover brings a snapshot to the node, in the place of one that is there, for
// [Restorer.Bootstrap]. Talos takes whatever comes before the end of the stream for the
// whole; so an error of the reader breaks the stream off, upon which the node removes
// the file, and is returned as it is, with no kind of this package. A reader that knows
// what it should have had fails in the place of io.EOF. When all is there, the size that
// the node has is compared. It is ErrNotReady while the node has not mounted its disk.
func (r *Restorer) Recover(ctx context.Context, snapshot io.Reader) error {
	const doing = "upload the snapshot"
	one := r.begin(ctx, r.timeouts.Transfer, doing)
	defer one.end()
	sent, err := r.upload(one, snapshot)
	if err != nil {
		return err
	}
	info, there, err := r.find(one.ctx, doing, constants.EtcdRecoverySnapshotPath)
	switch {
	case err != nil:
		return err
	case !there:
		return r.explain(doing, ErrFailed, fmt.Errorf("%d bytes are sent, and it has no file", sent))
	case info.GetSize() != sent:
		return r.explain(doing, ErrFailed, fmt.Errorf("%d bytes are sent, and it has %d", sent, info.GetSize()))
	}
	return nil
}

func (r *Restorer) upload(one *call, snapshot io.Reader) (sent int64, err error) {
	stream, err := r.machine.EtcdRecover(one.ctx)
	if err != nil {
		return 0, one.fail(err)
	}
	chunk := make([]byte, uploadChunk)
	for {
		n, err := snapshot.Read(chunk)
		if n > 0 && one.step(func() error { return stream.Send(&common.Data{Bytes: chunk[:n]}) }) != nil {
			return 0, r.early(one, stream)
		}
		sent += int64(n)
		if errors.Is(err, io.EOF) {
			return sent, r.uploaded(one, stream)
		}
		if err != nil {
			return 0, one.wrap(fmt.Errorf("read it: %w", err))
		}
	}
}

var errEarly = errors.New("it took a part for the whole")

// early is why the node ended the stream before its end: a success is none.
func (r *Restorer) early(one *call, stream machine.MachineService_EtcdRecoverClient) error {
	if err := r.uploaded(one, stream); err != nil {
		return err
	}
	return r.explain(one.doing, ErrFailed, errEarly)
}

// uploaded is what the node says at the end of the stream.
func (r *Restorer) uploaded(one *call, stream machine.MachineService_EtcdRecoverClient) error {
	var answer *machine.EtcdRecoverResponse
	err := one.step(func() (err error) { answer, err = stream.CloseAndRecv(); return err })
	if err == nil {
		_, err = only(answer.GetMessages())
	}
	if err != nil {
		return one.fail(err)
	}
	return nil
}
