package talos

import (
	"context"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// EtcdForfeitLeadership moves the leadership from the own member to the first other
// one that is listed, even a learner, which etcd then refuses. A member that does not
// lead answers OK and no name.
func (a *api) EtcdForfeitLeadership(ctx context.Context, _ *machine.EtcdForfeitLeadershipRequest) (*machine.EtcdForfeitLeadershipResponse, error) {
	if err := a.onControlPlane("etcd forfeit leadership"); err != nil {
		return nil, err
	}
	id, err := a.boot.localMemberID(ctx)
	if err != nil {
		return nil, err
	}
	heir, err := a.boot.forfeit(clientv3.WithRequireLeader(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("failed to forfeit leadership: %w", err)
	}
	return &machine.EtcdForfeitLeadershipResponse{Messages: []*machine.EtcdForfeitLeadership{{Member: heir}}}, nil
}

func (b *boot) forfeit(ctx context.Context, own uint64) (heir string, err error) {
	// Only the leader itself can move the leadership, so it is asked for all of it.
	client, err := b.localClient(ctx)
	if err != nil {
		return "", err
	}
	defer client.Close()
	list, err := client.MemberList(ctx)
	if err != nil {
		return "", fmt.Errorf("failed to list etcd members: %w", err)
	}
	next, err := firstOther(list.Members, own)
	if err != nil {
		return "", err
	}
	status, err := client.Status(ctx, b.localEndpoint())
	if err != nil || status.Leader != own {
		return "", err
	}
	_, err = client.MoveLeader(ctx, next.ID)
	if errors.Is(err, rpctypes.ErrNotLeader) {
		return "", nil
	}
	return next.Name, err
}

// firstOther decides who is to lead: it does not look whether that member can.
func firstOther(members []*etcdserverpb.Member, own uint64) (next *etcdserverpb.Member, err error) {
	if len(members) == 1 {
		return nil, errors.New("cannot forfeit leadership, only one member")
	}
	listed := false
	for _, m := range members {
		if m.ID == own {
			listed = true
		} else if next == nil {
			next = m
		}
	}
	if !listed {
		return nil, fmt.Errorf("failed to find %q in list of etcd members", fmt.Sprintf("%016x", own))
	}
	return next, nil
}
