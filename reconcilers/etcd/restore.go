package etcd

import (
	"context"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

// Gate says why a destructive step has to wait for a restore, in whole sentences; empty
// if it need not. It is asked with an empty cluster: a restore of whichever cluster may
// rewind the API server that has the Etcd.
type Gate interface {
	Wait(ctx context.Context, namespace, cluster string) (why string, err error)
}

// wait is what a cycle left undone, and why.
type wait struct{ reason, text string }

// untouched tells whether what cannot be undone is left undone in this cycle: while a
// restore is on its way, and as long as the Etcd is held by one. Each step asks before
// it removes a member, moves leadership, or deletes or lowers anything; all else goes
// on.
func (c *cycle) untouched(ctx context.Context) (bool, error) {
	w := wait{v1alpha1.ReasonHeldByRestore, epoch.HeldText("Etcd", c.etcd)}
	if w.text == "" && c.Gate != nil {
		why, err := c.Gate.Wait(ctx, c.etcd.Namespace, "")
		if err != nil {
			return true, err
		}
		w = wait{v1alpha1.ReasonRestoreInProgress, why}
	}
	if w.text == "" {
		return false, nil
	}
	c.waiting, c.doing = w, w.text
	c.soon(blocked)
	return true, nil
}

// sayWaiting sets the condition that goes with what was left undone: a restore ends by
// itself, and what it holds waits for a person.
func (c *cycle) sayWaiting() {
	set, drop := v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled
	if c.waiting.reason == v1alpha1.ReasonHeldByRestore {
		set, drop = drop, set
	}
	removeCondition(c.etcd, drop)
	setCondition(c.etcd, set, true, c.waiting.reason, c.waiting.text, c.now())
}
