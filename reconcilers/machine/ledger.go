package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// errLedgerFull: nothing can be written down any more.
var errLedgerFull = errors.New("the ledger of removed members is full, and none of its entries is confirmed")

// intend writes the removal into the cluster's ledger before anything is asked for.
func (c *cycle) intend(ctx context.Context, target guard.Member) error {
	status := c.cluster.Status
	ledger, ok := guard.Ledger(status.RemovedMembers).IntendAt(target, v1alpha1.HexID(hexOf(target.ID)), status.ClusterID, c.Clock.Now())
	if !ok {
		return c.fail(ctx, fmt.Sprintf("No removal is asked for that cannot be written down: %s.", errLedgerFull))
	}
	return c.writeLedger(ctx, ledger)
}

// left confirms in the ledger what the list proves.
func (c *cycle) left(ctx context.Context) error {
	var listed []v1alpha1.HexID
	for _, m := range c.view.Members {
		listed = append(listed, v1alpha1.HexID(hexOf(m.ID)))
	}
	before := guard.Ledger(c.cluster.Status.RemovedMembers)
	after := before.Confirm(c.cluster.Status.ClusterID, listed, c.Clock.Now())
	for i := range after {
		if after[i].State != before[i].State {
			c.normal(v1alpha1.EventMemberRemoved, fmt.Sprintf("Member %s is no member of etcd any more.", after[i].Name))
		}
	}
	if err := c.writeLedger(ctx, after); err != nil {
		return err
	}
	c.letGo(ctx)
	return c.leftBehind(ctx)
}

// leftBehind waits until a machine that is still leaving has stopped its etcd and has
// deleted its data: a call that is cut would leave these, and an etcd that crashes over
// them for ever. Nobody else waits for it.
func (c *cycle) leftBehind(ctx context.Context) error {
	l := c.mine().leave
	if l == nil {
		return nil
	}
	ended, err, _ := l.state()
	if ended {
		if err != nil {
			c.log.Info("the machine has left etcd, and did not say so", "why", err.Error())
		}
		return nil
	}
	p := c.probe(ctx)
	defer p.close()
	l.answered(p.alive)
	c.onward(v1alpha1.ReasonRemovingEtcdMember, "The member has left etcd; the machine stops it and deletes its data.")
	return c.over(ctx, soonest)
}

// writeLedger writes on condition that nobody has written the cluster meanwhile.
func (c *cycle) writeLedger(ctx context.Context, ledger guard.Ledger) error {
	if slices.EqualFunc(ledger, c.cluster.Status.RemovedMembers, sameEntry) {
		return nil
	}
	changed := c.cluster.DeepCopy()
	changed.Status.RemovedMembers = ledger
	if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.cluster, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	c.cluster = changed
	return nil
}

func sameEntry(a, b v1alpha1.RemovedMember) bool {
	return a.ID == b.ID && a.ClusterID == b.ClusterID && a.State == b.State && slices.Equal(a.PeerURLs, b.PeerURLs)
}
