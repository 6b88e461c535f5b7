package talos

import (
	"context"

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

// Members is the linearizable list: it fails without a quorum, and is never empty.
// The node asks any control plane for it.
func (c *client) Members(ctx context.Context) ([]Member, error) {
	return ask(ctx, c, c.timeouts.Read, "list the etcd members", func(ctx context.Context) ([]Member, error) {
		answer, err := c.machine.EtcdMemberList(ctx, &machine.EtcdMemberListRequest{})
		if err != nil {
			return nil, err
		}
		list, err := only(answer.GetMessages())
		if err != nil {
			return nil, err
		}
		if len(list.GetMembers()) == 0 {
			return nil, errEmpty
		}
		return membersOf(list.GetMembers()), nil
	})
}

func membersOf(listed []*machine.EtcdMember) []Member {
	var members []Member
	for _, m := range listed {
		members = append(members, Member{m.GetId(), m.GetHostname(), m.GetPeerUrls(), m.GetClientUrls(), m.GetIsLearner()})
	}
	return members
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
	DBSize int64
	// Version is etcd's, as "3.6.4".
	Version string
	// Errors are those of the whole cluster, as alarms.
	Errors []string
}

// EtcdStatus asks the node's own member, which answers without a quorum too.
func (c *client) EtcdStatus(ctx context.Context) (EtcdStatus, error) {
	return ask(ctx, c, c.timeouts.Read, "read the status of etcd", func(ctx context.Context) (EtcdStatus, error) {
		answer, err := c.machine.EtcdStatus(ctx, &emptypb.Empty{})
		if err != nil {
			return EtcdStatus{}, err
		}
		own, err := only(answer.GetMessages())
		if err != nil {
			return EtcdStatus{}, err
		}
		return statusOf(own.GetMemberStatus()), nil
	})
}

func statusOf(s *machine.EtcdMemberStatus) EtcdStatus {
	return EtcdStatus{
		MemberID: s.GetMemberId(), Leader: s.GetLeader(), Learner: s.GetIsLearner(), Term: s.GetRaftTerm(), Index: s.GetRaftIndex(),
		Applied: s.GetRaftAppliedIndex(), DBSize: s.GetDbSize(), Version: s.GetProtocolVersion(), Errors: s.GetErrors(),
	}
}
