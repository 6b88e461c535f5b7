package talos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Member is an etcd member as the cluster lists it.
type Member struct {
	ID uint64
	// Hostname is empty until the member has started for the first time.
	Hostname   string
	PeerURLs   []string
	ClientURLs []string
	Learner    bool
}

// Members is the linearizable list: it fails without a quorum. The node asks any
// control plane for it.
func (n *Node) Members(ctx context.Context) ([]Member, error) {
	return ask(ctx, n, n.timeouts.Read, "list the etcd members", func(ctx context.Context) ([]Member, error) {
		answer, err := n.machine.EtcdMemberList(ctx, &machine.EtcdMemberListRequest{})
		if err != nil {
			return nil, err
		}
		if len(answer.GetMessages()) == 0 {
			return nil, errEmpty
		}
		var members []Member
		for _, m := range answer.GetMessages()[0].GetMembers() {
			members = append(members, Member{m.GetId(), m.GetHostname(), m.GetPeerUrls(), m.GetClientUrls(), m.GetIsLearner()})
		}
		return members, nil
	})
}

// EtcdStatus is what the node's own member says of itself.
type EtcdStatus struct {
	MemberID uint64
	// Leader is 0 without one.
	Leader  uint64
	Learner bool
	// Term, Index and Applied are those of raft.
	Term, Index, Applied uint64
	// DBSize is in bytes.
	DBSize  int64
	Version string
	// Errors are those of the whole cluster, as alarms.
	Errors []string
}

// EtcdStatus asks the node's own member, which answers without a quorum too.
func (n *Node) EtcdStatus(ctx context.Context) (EtcdStatus, error) {
	return ask(ctx, n, n.timeouts.Read, "read the status of etcd", func(ctx context.Context) (EtcdStatus, error) {
		answer, err := n.machine.EtcdStatus(ctx, &emptypb.Empty{})
		if err != nil {
			return EtcdStatus{}, err
		}
		if len(answer.GetMessages()) == 0 {
			return EtcdStatus{}, errEmpty
		}
		s := answer.GetMessages()[0].GetMemberStatus()
		return EtcdStatus{MemberID: s.GetMemberId(), Leader: s.GetLeader(), Learner: s.GetIsLearner(), Term: s.GetRaftTerm(),
			Index: s.GetRaftIndex(), Applied: s.GetRaftAppliedIndex(), DBSize: s.GetDbSize(), Version: s.GetProtocolVersion(), Errors: s.GetErrors()}, nil
	})
}

// ForfeitLeadership makes the node's member hand over leadership, and gives the
// hostname of the one that got it; "" if it did not lead. Talos takes the first other
// member, even a learner, and then fails; it fails too if there is no other.
func (n *Node) ForfeitLeadership(ctx context.Context) (to string, err error) {
	return ask(ctx, n, n.timeouts.Forfeit, "forfeit the leadership of etcd", func(ctx context.Context) (string, error) {
		answer, err := n.machine.EtcdForfeitLeadership(ctx, &machine.EtcdForfeitLeadershipRequest{})
		if err != nil {
			return "", err
		}
		if len(answer.GetMessages()) == 0 {
			return "", errEmpty
		}
		return answer.GetMessages()[0].GetMember(), nil
	})
}

// Leave makes the node's member leave: the node removes it, stops etcd and deletes
// its data. It may take more than LeaveNeeds, and a call that is cut leaves data
// behind, so that it is ErrShortDeadline, and nothing is sent, if ctx ends before
// that. After any other error it is open whether it left: list the members.
func (n *Node) Leave(ctx context.Context) error {
	const doing = "leave the etcd cluster"
	needs := min(LeaveNeeds, n.timeouts.Leave)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < needs {
		return n.explain(doing, ErrShortDeadline, fmt.Errorf("the node may need %s", needs))
	}
	_, err := ask(ctx, n, n.timeouts.Leave, doing, func(ctx context.Context) (*machine.EtcdLeaveClusterResponse, error) {
		return n.machine.EtcdLeaveCluster(ctx, &machine.EtcdLeaveClusterRequest{})
	})
	return err
}

// RemoveMember removes a member by its ID, through this node. One that is not there
// is removed. The machine of a removed member keeps its data. After an error it is
// open whether it happened: list the members.
func (n *Node) RemoveMember(ctx context.Context, id uint64) error {
	_, err := ask(ctx, n, n.timeouts.Remove, fmt.Sprintf("remove the etcd member %016x", id),
		func(ctx context.Context) (*machine.EtcdRemoveMemberByIDResponse, error) {
			return n.machine.EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: id})
		})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
