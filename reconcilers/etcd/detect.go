package etcd

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// detect compares spec, StatefulSet and status, and records the membership change
// that they ask for before anything of it is done: only then can admission refuse what
// would cross it. Etcd is not asked, so an outage of it holds up nothing here.
func (c *cycle) detect(ctx context.Context) error {
	c.recordOperation(guard.Detect(c.recorded()))
	if c.replicas() > 0 { // only now: a cluster that sleeps is as large as it was before
		c.etcd.Status.HibernatedReplicas = c.etcd.Spec.Replicas
	}
	return c.persist(ctx)
}

// recordOperation puts the change, or that there is none, into status.
func (c *cycle) recordOperation(op *guard.Operation) {
	e := c.etcd
	before := e.Status.ScaleOperation
	if op == nil {
		if before != nil {
			c.event(v1alpha1.EventScaleOperationEnded, fmt.Sprintf("%s from %d to %d members was taken back before anything was done.", before.Type, before.From, before.To))
		}
		c.clearOperation()
		return
	}
	from, to := int32(op.From), int32(op.To) //nolint:gosec // at most 9
	if before == nil || before.Type != op.Type || before.From != from {
		e.Status.ScaleOperation = &v1alpha1.ScaleOperation{Type: op.Type, Generation: e.Generation, From: from, To: to, StartedAt: c.now()}
		removeCondition(e, v1alpha1.ConditionStalled)
		c.event(v1alpha1.EventScaleOperationStarted, c.operationText())
	} else if before.To != to {
		before.To, before.Generation = to, e.Generation
	}
	setCondition(e, v1alpha1.ConditionScaleOperationInProgress, true, string(op.Type), c.operationText(), c.now())
}

func (c *cycle) clearOperation() {
	c.etcd.Status.ScaleOperation = nil
	setCondition(c.etcd, v1alpha1.ConditionScaleOperationInProgress, false, v1alpha1.ReasonNoScaleOperation, "No membership change is on its way.", c.now())
}

func (c *cycle) operationText() string {
	op := c.etcd.Status.ScaleOperation
	switch {
	case op.Type == v1alpha1.RemoveBootstrapMembers:
		return "Source members that spec no longer lists are removed."
	case op.Type == v1alpha1.ScaleIn && op.From == op.To:
		return fmt.Sprintf("Members beyond %d are left over and are removed.", op.To)
	case op.From == 0 && c.joining() != nil:
		return fmt.Sprintf("%d members join the source's cluster.", op.To)
	case op.From == 0:
		return fmt.Sprintf("A cluster of %d members is formed.", op.To)
	case op.Type == v1alpha1.ScaleIn:
		return fmt.Sprintf("Members are removed, from %d to %d.", op.From, op.To)
	}
	return fmt.Sprintf("Members are added, from %d to %d.", op.From, op.To)
}

// leftoverGrace is how long an own member beyond replicas must have been seen before
// it counts as left over: one that is on its way out is none.
const leftoverGrace = 30 * time.Second

// leftover tells whether the status flow has seen own members beyond replicas for a
// while: the condition Ready names them since then.
func (c *cycle) leftover() bool {
	ready := findCondition(c.etcd, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason == v1alpha1.ReasonLeftoverMembers && c.Clock.Since(ready.LastTransitionTime.Time) >= leftoverGrace &&
		ready.ObservedGeneration == c.etcd.Generation
}

func (c *cycle) now() metav1.Time { return metav1.NewTime(c.Clock.Now()).Rfc3339Copy() }

// deadline is how long a change may go without progress.
func (c *cycle) deadline() time.Duration {
	return time.Duration(ptr.Deref(c.etcd.Spec.ProgressDeadlineSeconds, 600)) * time.Second
}
