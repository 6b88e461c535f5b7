package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
)

// errNotListed: a control plane does not list the member any more.
var errNotListed = errors.New("the member is not listed any more")

// askTimeout bounds the questions to one control plane: one that is well answers at
// once, and the next may be.
const askTimeout = 5 * time.Second

// removeTimeout is what a hold that was checked has left.
const removeTimeout = lease.DefaultDuration / 3

// removeBySurvivor has an approved control plane that stays remove the member. One call
// that may have reached etcd is all there is in a cycle: what became of it, the next
// list tells.
func (c *cycle) removeBySurvivor(ctx context.Context, hold Hold, target guard.Member) {
	var silent []string
	for _, m := range c.survivors() {
		asked, err := c.removeThrough(ctx, hold, m, target.ID)
		switch {
		case err == nil:
			c.log.Info("removed a rejoined member", "member", target.Label(), "id", hexOf(target.ID), "through", m.Name)
			c.soon(soonest)
			return
		case errors.Is(err, errNotListed):
			c.soon(soonest)
			return
		case asked:
			c.hinder(target, fmt.Sprintf("it was asked of TalosMachine %s: %s", m.Name, conditions.OneLine(err)))
			return
		}
		silent = append(silent, fmt.Sprintf("TalosMachine %s: %s", m.Name, conditions.OneLine(err)))
	}
	c.hinder(target, "no approved control plane removes it: "+strings.Join(silent, "; "))
}

// survivors are whom to ask: those with a healthy member first.
func (c *cycle) survivors() []*v1alpha1.TalosMachine {
	out := c.staying()
	slices.SortStableFunc(out, func(a, b *v1alpha1.TalosMachine) int { return c.illness(a) - c.illness(b) })
	return out
}

func (c *cycle) illness(m *v1alpha1.TalosMachine) int {
	if slices.ContainsFunc(guard.MembersOf(c.view.Members, controlplane.Describe(m), nil), func(member guard.Member) bool { return member.Healthy }) {
		return 0
	}
	return 1
}

// removeThrough lists, then removes. asked is set once etcd may have acted, or nobody
// may any more.
func (c *cycle) removeThrough(ctx context.Context, hold Hold, m *v1alpha1.TalosMachine, id uint64) (asked bool, err error) {
	node, err := c.Dial(c.bundle, m, talos.Admin)
	if err != nil {
		return false, err
	}
	defer func() { _ = node.Close() }() // all was said
	if err := listed(ctx, node, id); err != nil {
		return false, err
	}
	if err := hold.Check(ctx); err != nil {
		return true, err
	}
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	return true, node.RemoveMember(ctx, id)
}

// listed fails with errNotListed, or if the node cannot tell.
func listed(ctx context.Context, node Node, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := node.VerifyCluster(ctx); err != nil {
		return err
	}
	members, err := node.Members(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(members, func(m talos.Member) bool { return m.ID == id }) {
		return errNotListed
	}
	return nil
}
