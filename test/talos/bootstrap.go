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

// Bootstrap founds a cluster. Its OK says that etcd is being started, no more.
func (a *api) Bootstrap(ctx context.Context, in *machine.BootstrapRequest) (*machine.BootstrapResponse, error) {
	if err := a.onControlPlane("bootstrap"); err != nil {
		return nil, err
	}
	if in.RecoverEtcd {
		return nil, status.Error(codes.Unimplemented, "recovery is not modelled yet")
	}
	if err := a.boot.found(ctx); err != nil {
		return nil, err
	}
	return &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}, nil
}

// found stops the etcd that waits to join and starts one that founds.
func (b *boot) found(ctx context.Context) error {
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
	b.startEtcd(&etcdService{boot: b, bootstrap: true})
	return nil
}

// Bootstrap founds the etcd cluster on this node.
func (n *Node) Bootstrap(ctx context.Context) error {
	b, err := n.current()
	if err != nil {
		return fmt.Errorf("bootstrap etcd: %w", err)
	}
	if err := b.found(ctx); err != nil {
		return fmt.Errorf("bootstrap etcd on %s: %w", n.Name, err)
	}
	return nil
}
