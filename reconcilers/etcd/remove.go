package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// remove takes at most one step towards the removal of one member: write it into the
// ledger, move leadership off it, or ask etcd to remove it. Each is taken on a list, a
// spec and a StatefulSet that were read for it.
func (c *cycle) remove(ctx context.Context) error {
	if c.replicas() == 0 || c.view == nil {
		return nil
	}
	if err := c.confirm(ctx); err != nil { // replacements need that too
		return err
	}
	op := c.etcd.Status.ScaleOperation
	if op == nil || op.Type == v1alpha1.ScaleOut {
		return nil
	}
	candidates, proceed, err := c.compare(ctx)
	if err != nil || !proceed {
		return err
	}
	return c.removeNext(ctx, candidates, op.Type == v1alpha1.RemoveBootstrapMembers)
}

// confirm writes into the ledger which removals the list proves.
func (c *cycle) confirm(ctx context.Context) error {
	var listed []v1alpha1.HexID
	for _, m := range c.view.Members {
		listed = append(listed, hexOf(m.ID))
	}
	before := guard.Ledger(c.etcd.Status.RemovedMembers)
	after := before.Confirm(c.etcd.Status.ClusterID, listed, c.Clock.Now())
	var gone []string
	for i, entry := range after {
		if entry.State != before[i].State {
			gone = append(gone, entry.Name)
			c.Metrics.removed(c.etcd)
		}
	}
	switch len(gone) { // one event: several of a reason would be counted as one
	case 0:
	case 1:
		c.event(v1alpha1.EventMemberRemoved, fmt.Sprintf("Member %s is no member any more.", gone[0]))
	default:
		c.event(v1alpha1.EventMemberRemoved, fmt.Sprintf("Members %s are no members any more.", strings.Join(gone, ", ")))
	}
	c.etcd.Status.RemovedMembers = after
	return c.persist(ctx)
}

// compare reads Etcd and StatefulSet again, and asks whether the recorded change is
// still what they want. What was asked for in the other direction, or taken back,
// removes nobody: it is detected in the next cycle.
func (c *cycle) compare(ctx context.Context) ([]guard.Member, bool, error) {
	fresh := &v1alpha1.Etcd{}
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(c.etcd), fresh); err != nil {
		return nil, false, fmt.Errorf("read the Etcd again: %w", err)
	}
	set, err := c.liveSet(ctx)
	if err != nil {
		return nil, false, err
	}
	if fresh.UID != c.etcd.UID || set == nil || !fresh.DeletionTimestamp.IsZero() || fresh.ResourceVersion != c.read.ResourceVersion {
		c.soon(soonest)
		return nil, false, nil
	}
	r := recordedOf(fresh, set, c.leftover())
	candidates, outcome := c.candidates(fresh, r)
	if outcome != guard.Proceed {
		c.log.Info("no member is removed in this cycle", "outcome", string(outcome), "spec", r.Spec, "statefulSet", r.StatefulSet)
		return nil, false, nil
	}
	return candidates, true, nil
}

// candidates are computed from the fresh spec.
func (c *cycle) candidates(fresh *v1alpha1.Etcd, r guard.Recorded) ([]guard.Member, guard.Outcome) {
	sizes := guard.Sizes{Spec: r.Spec, StatefulSet: r.StatefulSet}
	if fresh.Status.ScaleOperation.Type == v1alpha1.RemoveBootstrapMembers {
		var sources []guard.Source
		for _, m := range fresh.Status.BootstrapWithExistingClusterMembers {
			sources = append(sources, sourceOf(m))
		}
		return guard.BootstrapCandidates(c.view.Members, sources, r.Listed, c.places()), guard.CompareBootstrapRemoval(sizes, r.Joined, r.Listed)
	}
	candidates := guard.ScaleInCandidates(c.view.Members, c.places(), r.Spec)
	return candidates, guard.CompareScaleIn(sizes, len(candidates) > 0)
}

// removeNext does what is due for the candidate that goes next.
func (c *cycle) removeNext(ctx context.Context, candidates []guard.Member, locked bool) error {
	next, verdict, ok := guard.Next(c.view.Members, candidates)
	switch {
	case !ok:
		return nil
	case !verdict.Safe:
		c.withhold(next, verdict)
		return nil
	}
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	c.log.Info("may be removed", "member", next.Label(), "id", hexOf(next.ID), "why", verdict.Why)
	if done, err := c.intend(ctx, next); err != nil || !done {
		return err
	}
	release, err := c.turn(ctx, locked || len(c.strangers()) > 0)
	if err != nil || release == nil {
		return err
	}
	defer release()
	if next.Leader {
		return c.moveLeader(ctx, candidates, next)
	}
	return c.removeMember(ctx, candidates, next)
}

// withhold says that the removal would cost the quorum. It is looked at again by
// itself, and goes on when it is safe.
func (c *cycle) withhold(m guard.Member, verdict guard.Removal) {
	c.fail(v1alpha1.ErrQuorumUnsafeMemberRemoval, fmt.Sprintf(
		"member %s not removed: removal would break quorum (%s); requeuing until the cluster is healthy", m.Label(), verdict.Why))
	c.Metrics.refused(c.etcd, v1alpha1.ErrQuorumUnsafeMemberRemoval)
	c.soon(blocked)
}

// intend writes the removal into the ledger, and the ledger to where the agents read
// it. Only a cycle that finds both there goes on.
func (c *cycle) intend(ctx context.Context, m guard.Member) (bool, error) {
	ledger, ok := guard.Ledger(c.etcd.Status.RemovedMembers).Intend(hexOf(m.ID), c.etcd.Status.ClusterID, m.Label(), c.Clock.Now())
	if !ok {
		c.fail(v1alpha1.ErrLedgerFull, fmt.Sprintf("member %s not removed: 64 removals are recorded that no member list has confirmed; heal the cluster", m.Label()))
		c.soon(blocked)
		return false, nil
	}
	known := len(ledger) == len(c.etcd.Status.RemovedMembers) && slices.ContainsFunc(c.read.Status.RemovedMembers, func(r v1alpha1.RemovedMember) bool {
		return r.ID == hexOf(m.ID) && r.ClusterID == c.etcd.Status.ClusterID
	})
	c.etcd.Status.RemovedMembers = ledger
	if err := c.persist(ctx); err != nil {
		return false, err
	}
	changed, err := c.syncConfig(ctx)
	if err != nil {
		return false, err
	}
	if !known || changed {
		c.acted = true
		c.soon(soonest)
		return false, nil
	}
	return true, nil
}

// moveLeader moves leadership to a healthy voter that stays. If there is none, the
// leader goes all the same: the rest elects another one.
func (c *cycle) moveLeader(ctx context.Context, leaving []guard.Member, leader guard.Member) error {
	to, ok := guard.Successor(c.view.Members, leaving)
	if !ok {
		return c.removeMember(ctx, leaving, leader)
	}
	c.acted = true
	c.handOver(ctx, leader, to)
	return nil
}

// handOver asks the leader to give its leadership to another member.
func (c *cycle) handOver(ctx context.Context, leader, to guard.Member) {
	if err := c.at(ctx, c.view.ClientURLs[leader.ID], func(cluster Cluster) error { return cluster.MoveLeader(ctx, to.ID) }); err != nil {
		c.fail(v1alpha1.ErrMoveLeader, fmt.Sprintf("leadership not moved from %s to %s: %s", leader.Label(), to.Label(), oneLine(err)))
		c.soon(busy)
		return
	}
	c.event(v1alpha1.EventLeaderMoved, fmt.Sprintf("Leadership moved from %s to %s.", leader.Label(), to.Label()))
	c.soon(soonest)
}

// removeMember asks through the members that stay, so that no call goes through one
// that leaves. Whether it happened is for the next list to say.
func (c *cycle) removeMember(ctx context.Context, leaving []guard.Member, m guard.Member) error {
	c.acted = true
	err := c.at(ctx, c.staying(leaving), func(cluster Cluster) error { return cluster.Remove(ctx, m.ID) })
	switch {
	case errors.Is(err, etcdclient.ErrUnhealthy) && c.justIntended(m):
		c.doing = fmt.Sprintf("Member %s is removed once etcd has seen its members connected for a while.", m.Label())
		c.soon(busy)
	case errors.Is(err, etcdclient.ErrUnhealthy):
		c.fail(v1alpha1.ErrQuorumUnsafeMemberRemoval, fmt.Sprintf("member %s not removed: etcd itself refuses (%s); requeuing until the cluster is healthy", m.Label(), oneLine(err)))
		c.Metrics.refused(c.etcd, v1alpha1.ErrQuorumUnsafeMemberRemoval)
		c.soon(blocked)
	case err != nil:
		c.fail(v1alpha1.ErrRemoveMember, fmt.Sprintf("member %s: %s", m.Label(), oneLine(err)))
		c.soon(busy)
	default:
		c.log.Info("removed", "member", m.Label(), "id", hexOf(m.ID))
		c.soon(soonest)
	}
	return nil
}

// settling is longer than the 5 s for which etcd wants its members connected before
// it takes a removal (mayRemoveMember in etcdserver/server.go).
const settling = 15 * time.Second

// justIntended tells whether the removal was wanted so short a while ago that etcd's
// own refusal says nothing yet.
func (c *cycle) justIntended(m guard.Member) bool {
	return slices.ContainsFunc(c.etcd.Status.RemovedMembers, func(r v1alpha1.RemovedMember) bool {
		return r.ID == hexOf(m.ID) && r.ClusterID == c.etcd.Status.ClusterID && c.Clock.Since(r.At.Time) < settling
	})
}

// staying are the client URLs of healthy voters that are not to leave; of all voters
// but the one in hand if nobody stays, as when a whole Etcd leaves a shared cluster.
func (c *cycle) staying(leaving []guard.Member) []string {
	var urls []string
	for _, m := range c.view.Members {
		goes := slices.ContainsFunc(leaving, func(l guard.Member) bool { return l.ID == m.ID })
		if !goes && !m.Learner && m.Healthy {
			urls = append(urls, c.view.ClientURLs[m.ID]...)
		}
	}
	return urls
}

func hexOf(id uint64) v1alpha1.HexID { return v1alpha1.HexID(strconv.FormatUint(id, 16)) }

func parseID(id v1alpha1.HexID) (uint64, error) {
	if id == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(id), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("read the ID %q: %w", id, err)
	}
	return n, nil
}

// ignoreMissing is for what is gone already.
func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
