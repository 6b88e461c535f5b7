package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
)

// errNotListed: a control plane that stays does not list the member any more.
var errNotListed = errors.New("the member is not listed any more")

// bySurvivor has a control plane that stays remove the member by its ID. One call that
// reaches etcd is all there is in a cycle: what became of it, the next list tells.
func (c *cycle) bySurvivor(ctx context.Context, target guard.Member, why error) error {
	var silent []string
	for _, m := range c.survivors() {
		asked, err := c.removeThrough(ctx, m, target.ID)
		switch {
		case errors.Is(err, errNotListed):
			return c.waits(ctx, fmt.Sprintf("%s is not listed any more, by %s.", target.Label(), m.Name))
		case asked && err == nil:
			c.mine().refused = 0
			c.log.Info("removed by one that stays", "member", target.Label(), "id", hexOf(target.ID), "through", m.Name, "since", why.Error())
			return c.waits(ctx, fmt.Sprintf("%s was removed through %s, since it did not leave by itself: %s.", target.Label(), m.Name, conditions.OneLine(why)))
		case asked:
			return c.refused(ctx, fmt.Sprintf("%s was asked to remove %s, which did not leave by itself (%s), and failed: %s.", m.Name, target.Label(), conditions.OneLine(why), conditions.OneLine(err)))
		}
		silent = append(silent, fmt.Sprintf("%s: %s", m.Name, conditions.OneLine(err)))
	}
	return c.fail(ctx, fmt.Sprintf("%s does not leave by itself (%s), and no approved control plane that stays can remove it (%s). Bring one of them back.",
		target.Label(), conditions.OneLine(why), noneOr(silent)))
}

// mostRefusals is how many errors in a row are taken for passing ones: etcd takes its
// members for ill within 5 s of a start, and a call that went by way of the member that
// leaves ends in an error after it has acted.
const mostRefusals = 3

// refused looks again soon, and keeps the lock for that; then it is a failure.
func (c *cycle) refused(ctx context.Context, text string) error {
	w := c.mine()
	if w.refused++; w.refused > mostRefusals {
		return c.fail(ctx, text)
	}
	c.log.Info("looks again", "why", text)
	c.onward(v1alpha1.ReasonRemovingEtcdMember, text)
	return c.over(ctx, 2*busy)
}

func noneOr(texts []string) string {
	if len(texts) == 0 {
		return "there is none"
	}
	return strings.Join(texts, "; ")
}

// survivors are the approved control planes that stay, those with a healthy member
// first.
func (c *cycle) survivors() (out []*v1alpha1.TalosMachine) {
	var rest []*v1alpha1.TalosMachine
	for i := range c.machines {
		m := &c.machines[i]
		switch {
		case m.UID == c.machine.UID || !controlplane.Approved(m) || m.DeletionTimestamp != nil:
		case c.healthy(m):
			out = append(out, m)
		default:
			rest = append(rest, m)
		}
	}
	return append(out, rest...)
}

func (c *cycle) healthy(m *v1alpha1.TalosMachine) bool {
	return slices.ContainsFunc(guard.MembersOf(c.view.Members, describe(m, ""), nil), func(member guard.Member) bool { return member.Healthy })
}

// removeTimeout is what a hold that was checked has left.
const removeTimeout = lease.DefaultDuration / 3

// removeThrough lists, then removes. asked is set once etcd may have acted.
func (c *cycle) removeThrough(ctx context.Context, m *v1alpha1.TalosMachine, id uint64) (asked bool, err error) {
	node, err := c.Dial(c.bundle, m, talos.Admin)
	if err != nil {
		return false, err
	}
	defer func() { _ = node.Close() }() // all was said
	if err := node.VerifyCluster(ctx); err != nil {
		return false, err
	}
	listed, err := lists(ctx, node, id)
	switch {
	case err != nil:
		return false, err
	case !listed:
		return false, errNotListed
	}
	if err := c.mine().hold.Check(ctx); err != nil {
		return true, err
	}
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err = node.RemoveMember(ctx, id)
	return !refusedAtTheDoor(err), err
}

// refusedAtTheDoor tells whether the node let the call go no further, so that etcd has
// heard nothing of it.
func refusedAtTheDoor(err error) bool {
	return slices.ContainsFunc(strange, func(kind error) bool { return errors.Is(err, kind) })
}
