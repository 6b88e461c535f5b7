package talos

import (
	"fmt"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
)

// chunkBytes is how much of a file Talos sends in a message.
const chunkBytes = 1024

// EtcdSnapshot streams the own member's database and, at its end, 32 bytes of SHA-256.
// Like Talos it takes an error of etcd's stream for its end.
func (a *api) EtcdSnapshot(_ *machine.EtcdSnapshotRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	if err := a.onControlPlane("etcd snapshot"); err != nil {
		return err
	}
	client, err := a.boot.localClient(stream.Context())
	if err != nil {
		return err
	}
	defer client.Close()
	snapshot, err := client.Snapshot(stream.Context())
	if err != nil {
		return fmt.Errorf("failed reading etcd snapshot: %w", err)
	}
	defer snapshot.Close()
	return send(a.boot.node.faults.broken(snapshot), stream)
}

// send ends without an error however the reading ended.
func send(from io.Reader, stream grpc.ServerStreamingServer[common.Data]) error {
	for {
		chunk := make([]byte, chunkBytes)
		n, err := from.Read(chunk)
		if n > 0 {
			if err := stream.Send(&common.Data{Bytes: chunk[:n]}); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// broken answers a reader that fails where a fault says.
func (f *faults) broken(r io.Reader) io.Reader {
	for _, one := range f.of("EtcdSnapshot") {
		if one.snapshot {
			return io.MultiReader(io.LimitReader(r, one.bytes), failing{})
		}
	}
	return r
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
