package talos

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// etcdOf is a client of a node's own etcd, for what the machine API does not have.
func etcdOf(t *testing.T, n *Node) *clientv3.Client {
	t.Helper()
	b, err := n.current()
	must(t, err)
	c, err := b.localClient(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func remove(t *testing.T, via *Node, id uint64) error {
	t.Helper()
	return admin(t, via).EtcdRemoveMemberByID(within(t, time.Minute), &machine.EtcdRemoveMemberByIDRequest{MemberId: id})
}

// evicted removes a member until it is not found any more, and answers that error. A
// call may go through the very etcd that it removes, and then it fails after it has
// acted; and as long as the connections after a change are young, etcd answers
// "unhealthy cluster" before it looks for the member.
func evicted(t *testing.T, via *Node, id uint64) (gone error) {
	t.Helper()
	must(t, cluster.Until(t.Context(), "the removal", func(context.Context) error {
		gone = remove(t, via, id)
		if status.Code(gone) != codes.NotFound {
			return fmt.Errorf("the last answer is %w", errors.Join(gone, errStillListed))
		}
		return nil
	}))
	return gone
}

var errStillListed = errors.New("nobody said that it is not found")

// TestRemoveByID: a survivor removes another member; that node keeps its data and is
// in a restart loop. A second removal is NotFound. A bootstrap is refused, since data
// are there. Wiped, the node joins as a new member.
func TestRemoveByID(t *testing.T) {
	whole(t, shared)
	n, survivor := shared.Node("cp-3"), shared.Node("cp-1")
	id := find(listed(t, survivor), "cp-3").Id
	answers(t, evicted(t, survivor, id), codes.NotFound, fmt.Sprintf("failed to remove member %d: etcdserver: member not found", id))
	crashLoops(t, n)
	answers(t, bootstrap(t, n), codes.AlreadyExists, "etcd data directory is not empty")
	must(t, n.Reboot(t.Context()))
	crashLoops(t, n) // with data there is no join, not even after a reboot
	must(t, resetEphemeral(t, n, false))
	whole(t, shared)
	if after := find(listed(t, survivor), "cp-3").Id; after == id || after == 0 {
		t.Errorf("cp-3 is %x, was %x", after, id)
	}
}

// TestUnstartedMember: it is listed without a name.
func TestUnstartedMember(t *testing.T) {
	whole(t, shared)
	var id uint64
	c := etcdOf(t, shared.Node("cp-1"))
	must(t, cluster.Until(t.Context(), "a learner to be added", func(ctx context.Context) (err error) {
		id, err = etcdcluster.AddLearner(ctx, c, "https://127.0.0.9:2380")
		return err
	}))
	m := find(listed(t, shared.Node("cp-2")), "")
	if m.Id != id || !m.IsLearner || len(m.ClientUrls) != 0 || m.PeerUrls[0] != "https://127.0.0.9:2380" {
		t.Errorf("it is %v", m)
	}
	code(t, evicted(t, shared.Node("cp-2"), id), codes.NotFound)
}

// TestMemberListWithoutQuorum: a linearizable list has no answer, and a local one
// neither: Talos asks for a leader in both.
func TestMemberListWithoutQuorum(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-1")
	for _, other := range []string{"cp-2", "cp-3"} {
		shared.Node(other).PowerOff()
	}
	until(t, "cp-1 to show no member", func() bool {
		_, err := n.MemberID(t.Context())
		return err != nil
	})
	for _, local := range []bool{false, true} {
		ctx, c := within(t, 3*time.Second), admin(t, n)
		_, err := c.EtcdMemberList(ctx, &machine.EtcdMemberListRequest{QueryLocal: local})
		code(t, err, codes.DeadlineExceeded, codes.Unavailable, codes.Unknown)
	}
	for _, other := range []string{"cp-2", "cp-3"} {
		must(t, shared.Node(other).PowerOn())
	}
	whole(t, shared)
}

// TestLocalList: a node without etcd answers the list of the cluster, and none of its own.
func TestLocalList(t *testing.T) {
	whole(t, shared)
	list, err := members(t.Context(), admin(t, shared.Node("cp-2")), true)
	must(t, err)
	if names(list) != "cp-1 cp-2 cp-3" {
		t.Errorf("the members are %v", list)
	}
	n := shared.Node("cp-3")
	must(t, leave(t, n, time.Minute))
	if got := names(listed(t, n)); got != "cp-1 cp-2" {
		t.Errorf("by cp-3 the members are %s", got)
	}
	_, err = admin(t, n).EtcdMemberList(within(t, 2*time.Second), &machine.EtcdMemberListRequest{QueryLocal: true})
	code(t, err, codes.DeadlineExceeded, codes.Unavailable, codes.Unknown)
	must(t, n.Reboot(t.Context()))
	whole(t, shared)
}

// leader waits for the control plane that leads.
func leader(t *testing.T, c *Cluster) *Node {
	t.Helper()
	var out *Node
	must(t, cluster.Until(t.Context(), "a leader", func(ctx context.Context) error {
		for _, n := range c.ControlPlanes() {
			s, err := admin(t, n).EtcdStatus(ctx)
			if err != nil {
				return err
			}
			if m := s.Messages[0].MemberStatus; m.Leader == m.MemberId {
				out = n
				return nil
			}
		}
		return fmt.Errorf("none of the control planes leads")
	}))
	return out
}

// TestForfeit: the leader hands over to the first other member; who does not lead says
// OK and names nobody.
func TestForfeit(t *testing.T) {
	whole(t, shared)
	was := leader(t, shared)
	answer, err := admin(t, was).EtcdForfeitLeadership(within(t, 30*time.Second), &machine.EtcdForfeitLeadershipRequest{})
	must(t, err)
	var want string
	for _, m := range listed(t, was) {
		if m.Hostname != was.Name {
			want = m.Hostname
			break
		}
	}
	if now := leader(t, shared).Name; answer.Messages[0].Member != want || now != want {
		t.Errorf("%s leads, the answer is %s, want %s", now, answer.Messages[0].Member, want)
	}
	again, err := admin(t, was).EtcdForfeitLeadership(within(t, 30*time.Second), &machine.EtcdForfeitLeadershipRequest{})
	must(t, err)
	if again.Messages[0].Member != "" {
		t.Errorf("who does not lead named %s", again.Messages[0].Member)
	}
}

// TestFirstOther: learners are no exception, and one member has no other.
func TestFirstOther(t *testing.T) {
	learner, own := &etcdserverpb.Member{ID: 1, IsLearner: true}, &etcdserverpb.Member{ID: 2}
	for _, c := range []struct {
		members []*etcdserverpb.Member
		next    uint64
		err     string
	}{
		{[]*etcdserverpb.Member{learner, own, {ID: 3}}, 1, "<nil>"},
		{[]*etcdserverpb.Member{own, {ID: 3}}, 3, "<nil>"},
		{[]*etcdserverpb.Member{own}, 0, "cannot forfeit leadership, only one member"},
		{[]*etcdserverpb.Member{learner, {ID: 3}}, 0, `failed to find "0000000000000002" in list of etcd members`},
	} {
		next, err := firstOther(c.members, 2)
		if next.GetID() != c.next || fmt.Sprint(err) != c.err {
			t.Errorf("%v: %d, %v", c.members, next.GetID(), err)
		}
	}
}
