package talos

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watchHealth reads from the node's own etcd at intervals and shows the local member
// while that works. A learner answers no such read: it is not healthy.
func (e *etcdService) watchHealth(ctx context.Context, s *service) {
	client, err := e.boot.localClient(ctx)
	if err != nil {
		s.setHealth(false, "Health check failed: "+err.Error())
		return
	}
	defer client.Close()
	healthy := false
	for pause(ctx, e.boot.node.Timing().HealthEvery) == nil {
		id, err := e.look(ctx, client)
		if ctx.Err() == nil && (err == nil) != healthy {
			healthy = err == nil
			e.showHealth(ctx, s, id, err)
		}
	}
	_ = e.boot.hideMember(context.WithoutCancel(ctx)) // in memory: it cannot fail but by absence
}

func (e *etcdService) look(ctx context.Context, client *clientv3.Client) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, e.boot.node.Timing().HealthTimeout)
	defer cancel()
	if _, err := client.Get(ctx, "health"); err != nil {
		return 0, err
	}
	alarms, err := client.AlarmList(ctx) // every answer has the member's ID in its header
	if err != nil {
		return 0, err
	}
	return alarms.Header.MemberId, nil
}

func (e *etcdService) showHealth(ctx context.Context, s *service, id uint64, err error) {
	show := func() error { return e.boot.publishMember(ctx, id) }
	message := "Health check successful"
	if err != nil {
		message = "Health check failed: " + err.Error()
		show = func() error { return e.boot.hideMember(ctx) }
	}
	if shown := show(); shown != nil && err == nil {
		err, message = shown, "Health check failed: "+shown.Error()
	}
	s.setHealth(err == nil, message)
}

// localMemberID waits for the resource that a healthy etcd shows.
func (b *boot) localMemberID(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, b.node.Timing().LeaveWait)
	defer cancel()
	member := etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID).Metadata()
	found, err := safe.StateWatchFor[*etcd.Member](ctx, b.resources, member, state.WithEventTypes(state.Created))
	if err != nil {
		return 0, fmt.Errorf("failed to get local etcd member ID: %w", err)
	}
	return etcd.ParseMemberID(found.TypedSpec().MemberID)
}

// MemberID is the ID of the node's own member, which is known while etcd is a healthy
// voter.
func (n *Node) MemberID(ctx context.Context) (uint64, error) {
	b, err := n.current()
	if err != nil {
		return 0, err
	}
	member, err := safe.StateGetByID[*etcd.Member](ctx, b.resources, etcd.LocalMemberID)
	if err != nil {
		return 0, fmt.Errorf("the member ID of %s (its etcd is %s): %w", n.Name, n.Service(etcdServiceID), err)
	}
	return etcd.ParseMemberID(member.TypedSpec().MemberID)
}
