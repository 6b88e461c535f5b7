package talos

import (
	"context"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// ForfeitLeadership makes the node's member hand over leadership, and gives the
// hostname of the one that got it; "" if it did not lead. Talos takes the first other
// member, even a learner, and then fails; it fails too if there is no other.
func (c *client) ForfeitLeadership(ctx context.Context) (to string, err error) {
	return ask(ctx, c, c.timeouts.Forfeit, "forfeit the leadership of etcd", func(ctx context.Context) (string, error) {
		answer, err := c.machine.EtcdForfeitLeadership(ctx, &machine.EtcdForfeitLeadershipRequest{})
		if err != nil {
			return "", err
		}
		m, err := only(answer.GetMessages())
		return m.GetMember(), err
	})
}

// Leave makes the node's member leave: the node removes it, stops etcd and deletes
// its data. A call that is cut leaves data behind, so that it is ErrShortDeadline,
// and nothing is sent, if ctx ends before LeaveNeeds. After any other error it is
// open whether it left: list the members.
func (c *client) Leave(ctx context.Context) error {
	const doing = "leave the etcd cluster"
	needs := min(LeaveNeeds, c.timeouts.Leave)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < needs {
		return c.explain(doing, ErrShortDeadline, fmt.Errorf("the node may need %s", needs))
	}
	_, err := ask(ctx, c, c.timeouts.Leave, doing, func(ctx context.Context) (*machine.EtcdLeaveCluster, error) {
		answer, err := c.machine.EtcdLeaveCluster(ctx, &machine.EtcdLeaveClusterRequest{})
		if err != nil {
			return nil, err
		}
		return only(answer.GetMessages())
	})
	return err
}
