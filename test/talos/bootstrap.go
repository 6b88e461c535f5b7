package talos

import (
	"context"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errHasData is the error of a bootstrap on a node whose data directory has anything
// in it.
var errHasData = status.Error(codes.AlreadyExists, "etcd data directory is not empty")

// Bootstrap founds a cluster, with RecoverEtcd from the snapshot that was uploaded. Its OK
// says that etcd is being started, no more: whether there is a snapshot, and whether it
// is any good, shows in the service.
func (a *api) Bootstrap(ctx context.Context, in *machine.BootstrapRequest) (*machine.BootstrapResponse, error) {
	if err := a.onControlPlane("bootstrap"); err != nil {
		return nil, err
	}
	var from *recovery
	if in.RecoverEtcd {
		from = &recovery{skipHashCheck: in.RecoverSkipHashCheck}
	}
	if err := a.boot.mayFound(ctx); err != nil {
		return nil, err
	}
	if err := a.boot.found(ctx, from); err != nil {
		return nil, err
	}
	return &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}, nil
}

// found stops the etcd that waits to join and starts one that founds.
func (b *boot) found(ctx context.Context, from *recovery) error {
	b.founding.Lock()
	defer b.founding.Unlock()
	empty, err := b.node.disk.etcdEmpty()
	if err != nil {
		return err
	}
	if !empty {
		return errHasData
	}
	if err := b.services.find(etcdServiceID).stop(ctx); err != nil {
		return fmt.Errorf("failed to stop etcd: %w", err)
	}
	if empty, err = b.node.disk.etcdEmpty(); err != nil || !empty {
		return errors.Join(err, errors.New("etcd data directory is not empty"))
	}
	b.startEtcd(&etcdService{boot: b, bootstrap: true, recovery: from})
	return nil
}

// Bootstrap founds the etcd cluster on this node, as soon as it may.
func (n *Node) Bootstrap(ctx context.Context) error {
	b, err := n.current()
	if err != nil {
		return fmt.Errorf("bootstrap etcd: %w", err)
	}
	err = b.ready.await(ctx, partCRI, partTime)
	if err == nil {
		err = b.found(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("bootstrap etcd on %s: %w", n.Name, err)
	}
	return nil
}
