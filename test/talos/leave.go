package talos

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// EtcdLeaveCluster removes the own member, then stops etcd, then deletes its data, all
// within the client's deadline: one in between leaves the data of a removed member.
func (a *api) EtcdLeaveCluster(ctx context.Context, _ *machine.EtcdLeaveClusterRequest) (*machine.EtcdLeaveClusterResponse, error) {
	if err := a.onControlPlane("etcd leave"); err != nil {
		return nil, err
	}
	if err := a.boot.leave(ctx); err != nil {
		return nil, err
	}
	return &machine.EtcdLeaveClusterResponse{Messages: []*machine.EtcdLeaveCluster{{}}}, nil
}

func (b *boot) leave(ctx context.Context) error {
	client, err := b.clusterClient(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return b.removeSelf(clientv3.WithRequireLeader(ctx), client) },
		func(ctx context.Context) error { return b.node.faults.late(ctx, "EtcdLeaveCluster") },
		b.stopEtcd,
		func(context.Context) error { return os.RemoveAll(b.node.disk.etcd()) },
	} {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("failed to leave cluster: %w", err)
		}
		if err := step(ctx); err != nil {
			return fmt.Errorf("failed to leave cluster: %w", err)
		}
	}
	return nil
}

// removeSelf waits to know its own ID and then tries as long as etcd says that it may
// work in a while.
func (b *boot) removeSelf(ctx context.Context, client *clientv3.Client) error {
	id, err := b.localMemberID(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.node.Timing().LeavePatience)
	defer cancel()
	for {
		err := removeMember(ctx, client, id)
		if !mayLeaveLater(err) {
			return gone(err)
		}
		if pause(ctx, b.node.Timing().LeaveEvery) != nil {
			return err
		}
	}
}

// mayLeaveLater decides which errors are worth another try: a member that has no
// connection to its peers yet, and one that is about to stop.
func mayLeaveLater(err error) bool {
	return errors.Is(err, rpctypes.ErrUnhealthy) || errors.Is(err, rpctypes.ErrStopped)
}

// gone takes a member that is not listed for one that has been removed.
func gone(err error) error {
	if errors.Is(err, rpctypes.ErrMemberNotFound) {
		return nil
	}
	return err
}

func (b *boot) stopEtcd(ctx context.Context) error {
	if err := b.services.find(etcdServiceID).stop(ctx); err != nil {
		return fmt.Errorf("failed to stop etcd: %w", err)
	}
	return nil
}
