package talos

import (
	"context"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// EtcdMemberList is linearizable and asks any control plane, or with query_local the
// own etcd alone. A member that never started has no hostname.
func (a *api) EtcdMemberList(ctx context.Context, in *machine.EtcdMemberListRequest) (*machine.EtcdMemberListResponse, error) {
	if err := a.onControlPlane("member list"); err != nil {
		return nil, err
	}
	connect := a.boot.clusterClient
	if in.QueryLocal {
		connect = a.boot.localClient
	}
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	list, err := client.MemberList(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return nil, err
	}
	return &machine.EtcdMemberListResponse{Messages: []*machine.EtcdMembers{membersOf(list.Members)}}, nil
}

func membersOf(list []*etcdserverpb.Member) *machine.EtcdMembers {
	out := &machine.EtcdMembers{}
	for _, m := range list {
		out.LegacyMembers = append(out.LegacyMembers, m.Name)
		out.Members = append(out.Members, &machine.EtcdMember{
			Id: m.ID, Hostname: m.Name, PeerUrls: m.PeerURLs, ClientUrls: m.ClientURLs, IsLearner: m.IsLearner,
		})
	}
	return out
}

// EtcdRemoveMemberByID maps one error alone, NotFound. The removed node keeps its data
// and is not told.
func (a *api) EtcdRemoveMemberByID(ctx context.Context, in *machine.EtcdRemoveMemberByIDRequest) (*machine.EtcdRemoveMemberByIDResponse, error) {
	if err := a.onControlPlane("etcd remove member"); err != nil {
		return nil, err
	}
	client, err := a.boot.clusterClient(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	err = removeMember(clientv3.WithRequireLeader(ctx), client, in.MemberId)
	if errors.Is(err, rpctypes.ErrMemberNotFound) {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("failed to remove member: %w", err)
	}
	return &machine.EtcdRemoveMemberByIDResponse{Messages: []*machine.EtcdRemoveMemberByID{{}}}, nil
}

func removeMember(ctx context.Context, client *clientv3.Client, id uint64) error {
	if _, err := client.MemberRemove(ctx, id); err != nil {
		return fmt.Errorf("failed to remove member %d: %w", id, err)
	}
	return nil
}
