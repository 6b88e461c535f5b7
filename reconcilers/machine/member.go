package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
)

// member takes the machine's member out of etcd, a step a cycle: under the lock, on a
// list that was read under it, once the ledger has it. A list without the member is
// the only proof, and ends it.
func (c *cycle) member(ctx context.Context) error {
	if !c.controlPlane() {
		return nil
	}
	if _, _, listed := c.target(); !listed {
		return c.left(ctx)
	}
	if c.cluster.Status.ClusterID == "" {
		c.onward(v1alpha1.ReasonRemovingEtcdMember, fmt.Sprintf("Waits until TalosCluster %s has recorded the ID of its etcd: no removal is written down before.", c.cluster.Name))
		return c.over(ctx, busy)
	}
	probe := c.probe(ctx) // before the lock: a machine that does not answer holds up no other
	defer probe.close()
	if err := c.lock(ctx); err != nil {
		return err
	}
	target, verdict, err := c.lookAgain(ctx)
	switch {
	case err != nil:
		return err
	case verdict.Gone:
		return c.left(ctx)
	}
	if err := c.intend(ctx, target); err != nil {
		return err
	}
	return c.act(ctx, target, probe)
}

// lock takes the cluster's lock, or keeps it.
func (c *cycle) lock(ctx context.Context) error {
	w := c.mine()
	if w.hold != nil {
		err := w.hold.Check(ctx)
		if err == nil {
			return nil
		}
		c.log.Info("the cluster's lock was lost", "why", err.Error())
		w.hold = nil
	}
	hold, err := c.Lock(ctx, c.clusterKey(), "remove talosmachine "+c.machine.Name)
	if errors.Is(err, lease.ErrHeld) {
		c.onward(v1alpha1.ReasonLockHeld, fmt.Sprintf("Another change of the cluster is on its way: %s.", conditions.OneLine(err)))
		return c.over(ctx, busy)
	}
	if err != nil {
		return err
	}
	w.hold = hold
	return nil
}

// lookAgain reads the world under the lock, and asks again whether the member may go.
func (c *cycle) lookAgain(ctx context.Context) (guard.Member, guard.Removal, error) {
	var none guard.Member
	if err := c.findCluster(ctx); err != nil {
		return none, guard.Removal{}, err
	}
	if err := c.look(ctx); err != nil {
		return none, guard.Removal{}, err
	}
	if c.viewErr != nil {
		return none, guard.Removal{}, c.fail(ctx, c.unseen(ctx))
	}
	target, verdict, listed := c.target()
	if !listed {
		return none, guard.Removal{Gone: true}, nil
	}
	refusal, err := c.refusal(ctx)
	if err == nil && refusal != "" {
		err = c.stuck(ctx, v1alpha1.ReasonRemovalRefused, refusal)
	}
	if err == nil {
		err = c.untouched(ctx)
	}
	return target, verdict, err
}

// act has the machine leave, follows its leaving, or has one that stays remove it.
func (c *cycle) act(ctx context.Context, target guard.Member, p *probe) error {
	w := c.mine()
	if w.leave != nil {
		ended, err, since := w.leave.state()
		switch {
		case !ended:
			w.leave.answered(p.alive)
			c.onward(v1alpha1.ReasonRemovingEtcdMember, fmt.Sprintf("%s is leaving etcd.", target.Label()))
			return c.over(ctx, busy)
		case err == nil && since < lateView:
			return c.waits(ctx, fmt.Sprintf("%s says that it has left etcd; the member list still has it.", target.Label()))
		case since < leaveAgain || p.fault != nil:
			return c.bySurvivor(ctx, target, leaveFault(err))
		}
		w.leave = nil
	}
	switch {
	case p.fault == nil:
		return c.leave(ctx, target, p)
	case p.stranger && !c.provedDead(target):
		return c.fail(ctx, fmt.Sprintf("What answers at %s is not to be trusted with it: %s. Correct spec.endpoint, or the secrets bundle.", p.address, conditions.OneLine(p.fault)))
	}
	return c.bySurvivor(ctx, target, p.fault)
}

func leaveFault(err error) error {
	if err == nil {
		return errors.New("it says that it has left, and the member list still has it")
	}
	return err
}

// provedDead tells whether the member was recorded as this machine's and is ill: then
// it is not what answers at the machine's address.
func (c *cycle) provedDead(target guard.Member) bool {
	return c.self().MemberID == target.ID && !target.Healthy
}

// leave has the machine's own etcd leave, after it has handed over leadership.
func (c *cycle) leave(ctx context.Context, target guard.Member, p *probe) error {
	if target.Leader {
		if to, err := p.node.ForfeitLeadership(ctx); err != nil {
			c.log.Info("leadership was not handed over; an election will follow", "member", target.Label(), "why", err.Error())
		} else {
			c.log.Info("leadership was handed over", "from", target.Label(), "to", to)
		}
	}
	if err := c.mine().hold.Check(ctx); err != nil {
		return c.lost(ctx, err)
	}
	listed, err := lists(ctx, p.node, target.ID)
	switch {
	case err != nil:
		return c.bySurvivor(ctx, target, err)
	case !listed:
		return c.waits(ctx, fmt.Sprintf("%s has left etcd, by its own list.", target.Label()))
	}
	c.log.Info("leaves etcd", "member", target.Label(), "id", hexOf(target.ID))
	c.mine().leave = begin(p.take(), c.Clock)
	return c.waits(ctx, fmt.Sprintf("%s is leaving etcd.", target.Label()))
}

// lists asks a node whether the member is there, right before something is done to it.
func lists(ctx context.Context, node Node, id uint64) (bool, error) {
	members, err := node.Members(ctx)
	if err != nil {
		return false, err
	}
	for _, m := range members {
		if m.ID == id {
			return true, nil
		}
	}
	return false, nil
}

// waits says what is on its way, and looks again soon.
func (c *cycle) waits(ctx context.Context, text string) error {
	c.onward(v1alpha1.ReasonRemovingEtcdMember, text)
	return c.over(ctx, soonest)
}

// lost ends a cycle whose lock is gone: nothing may be done any more.
func (c *cycle) lost(ctx context.Context, why error) error {
	c.mine().hold = nil
	c.onward(v1alpha1.ReasonLockHeld, fmt.Sprintf("The cluster's lock was lost, and nothing is done without it: %s.", conditions.OneLine(why)))
	return c.over(ctx, busy)
}

// strange are failures of something that answers and is not the machine, or does not
// take us for its cluster's.
var strange = []error{talos.ErrOtherCluster, talos.ErrWrongCA, talos.ErrWrongCertificate, talos.ErrExpired, talos.ErrDenied, talos.ErrNotControlPlane}
