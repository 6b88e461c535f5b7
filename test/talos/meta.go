package talos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// meta are the values of META, each in a file that is named by its key, such as 0x0c.
// The partition's size is not modelled: nothing is ever too much.
func (d disk) meta() string { return filepath.Join(d.dir, constants.MetaPartitionLabel) }

// metaID is a key as COSI and the disk name it. Talos takes any that fits a byte.
func metaID(key uint32) (string, error) {
	if uint32(uint8(key)) != key {
		return "", status.Error(codes.InvalidArgument, "key must be a uint8")
	}
	return runtime.MetaKeyTagToID(uint8(key)), nil
}

// MetaWrite keeps a value on META, which an EPHEMERAL wipe leaves alone. It is read as the
// resource MetaKey.
func (a *api) MetaWrite(ctx context.Context, in *machine.MetaWriteRequest) (*machine.MetaWriteResponse, error) {
	id, err := metaID(in.Key)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(a.boot.node.disk.meta(), id), in.Value, 0o600); err != nil {
		return nil, fmt.Errorf("write META: %w", err)
	}
	if err := a.boot.showMeta(ctx, id, string(in.Value)); err != nil {
		return nil, err
	}
	return &machine.MetaWriteResponse{Messages: []*machine.MetaWrite{{}}}, nil
}

// MetaDelete answers NotFound for a key that has no value.
func (a *api) MetaDelete(ctx context.Context, in *machine.MetaDeleteRequest) (*machine.MetaDeleteResponse, error) {
	id, err := metaID(in.Key)
	if err != nil {
		return nil, err
	}
	err = os.Remove(filepath.Join(a.boot.node.disk.meta(), id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, status.Error(codes.NotFound, "meta key not found")
	}
	if err != nil {
		return nil, fmt.Errorf("delete from META: %w", err)
	}
	if err := a.boot.resources.Destroy(ctx, runtime.NewMetaKey(runtime.NamespaceName, id).Metadata()); err != nil {
		return nil, err
	}
	return &machine.MetaDeleteResponse{Messages: []*machine.MetaDelete{{}}}, nil
}

func (b *boot) showMeta(ctx context.Context, id, value string) error {
	return safe.StateModify(ctx, b.resources, runtime.NewMetaKey(runtime.NamespaceName, id), func(r *runtime.MetaKey) error {
		r.TypedSpec().Value = value
		return nil
	})
}

// readMeta shows what an earlier boot has written.
func (b *boot) readMeta(ctx context.Context) error {
	for key := range uint32(256) {
		id, err := metaID(key)
		if err != nil {
			return err
		}
		value, err := os.ReadFile(filepath.Join(b.node.disk.meta(), id))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read META: %w", err)
		}
		if err := b.showMeta(ctx, id, string(value)); err != nil {
			return err
		}
	}
	return nil
}
