package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/lease"
)

// rejoined removes again what the ledger knows as removed: one member a cycle, under
// the cluster's lock, by what is read under it.
func (c *cycle) rejoined(ctx context.Context) error {
	target, ok := c.due()
	if !ok {
		return nil
	}
	if waits, err := c.waits(ctx, target); err != nil || waits {
		return err
	}
	hold, err := c.Lock(ctx, c.key(), "remove rejoined member "+hexOf(target.ID))
	if errors.Is(err, lease.ErrHeld) {
		c.hinder(target, conditions.OneLine(err))
		return nil
	}
	if err != nil {
		return err
	}
	defer c.release(ctx, hold)
	if err := c.lookAgain(ctx); err != nil {
		return err
	}
	if now, ok := c.due(); !ok || now.ID != target.ID {
		c.soon(soonest) // the world has changed since
		return nil
	}
	if waits, err := c.waits(ctx, target); err != nil || waits {
		return err
	}
	if ok, err := c.intend(ctx, target); err != nil || !ok {
		return err
	}
	c.removeBySurvivor(ctx, hold, target)
	return nil
}

// due is the rejoined member that goes next, if it may go now.
func (c *cycle) due() (guard.Member, bool) {
	if c.view == nil {
		return guard.Member{}, false
	}
	candidates := c.known(c.overdue())
	c.announce(candidates)
	next, verdict, ok := guard.Next(c.view.Members, candidates)
	if ok && !verdict.Safe {
		c.hinder(next, verdict.Why)
	}
	return next, ok && verdict.Safe
}

// known are those that were removed from this cluster before, and wait for nobody's
// approval.
func (c *cycle) known(members []guard.Member) []guard.Member {
	return slices.DeleteFunc(guard.Ledger(c.cluster.Status.RemovedMembers).Rejoined(members, c.cluster.Status.ClusterID), c.awaited)
}

// awaited tells whether a machine that waits for its approval is at the member's place:
// who put it there is to say whether it stays.
func (c *cycle) awaited(m guard.Member) bool {
	return slices.ContainsFunc(c.machines, func(t v1alpha1.TalosMachine) bool {
		return t.Spec.Role == v1alpha1.MachineControlPlane && !t.Spec.Approved &&
			len(guard.MembersOf([]guard.Member{m}, controlplane.Describe(&t), nil)) > 0
	})
}

// announce warns of each once.
func (c *cycle) announce(rejoined []guard.Member) {
	seen, _ := c.seen.of(c.cluster, c.audit.Unknown, c.Clock.Now())
	for _, m := range rejoined {
		if s := seen[m.ID]; !s.rejoined && !c.noted(&s.rejoined) {
			c.warn(v1alpha1.EventMemberRejoined, fmt.Sprintf("Etcd member %s was removed before, has joined again, and is removed again. Reset its node or power it off, else it joins once more.", where(m)), &s.rejoined)
		}
	}
}

func (c *cycle) hinder(m guard.Member, why string) { c.hindered[m.ID] = why }

// lookAgain reads cluster, machines and etcd anew.
func (c *cycle) lookAgain(ctx context.Context) error {
	before := c.cluster.UID
	cluster := &v1alpha1.TalosCluster{}
	err := c.Live.Get(ctx, c.key(), cluster)
	switch {
	case apierrors.IsNotFound(err):
		return errOver
	case err != nil:
		return fmt.Errorf("get the TalosCluster again: %w", err)
	case cluster.UID != before || !cluster.DeletionTimestamp.IsZero():
		return errOver
	}
	c.take(cluster)
	if err := c.look(ctx); err != nil {
		return err
	}
	c.unknown = slices.DeleteFunc(c.unknown, func(m guard.Member) bool {
		return !slices.ContainsFunc(c.audit.Unknown, func(u guard.Member) bool { return u.ID == m.ID })
	})
	return nil
}

// intend writes the removal into the ledger before anything is asked for. A removal
// that cannot be written down is not asked for.
func (c *cycle) intend(ctx context.Context, target guard.Member) (bool, error) {
	s := &c.cluster.Status
	ledger, ok := guard.Ledger(s.RemovedMembers).IntendAt(target, v1alpha1.HexID(hexOf(target.ID)), s.ClusterID, c.Clock.Now())
	if !ok {
		c.hinder(target, "the ledger of removed members is full, and none of its entries is confirmed")
		return false, nil
	}
	s.RemovedMembers = ledger
	return true, c.persist(ctx)
}

// releaseTimeout is for giving the lock back at the end of a cycle that has none left.
const releaseTimeout = 5 * time.Second

func (c *cycle) release(ctx context.Context, hold Hold) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := hold.Release(ctx); err != nil {
		c.log.Info("the lock was not given back, and expires", "why", err.Error())
	}
}
