package etcd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
)

// finish writes how the reconcile ended. A change that has nothing left to do ends in
// the same write that says so.
func (c *cycle) finish(ctx context.Context) error {
	ended, err := c.ended(ctx)
	if err != nil {
		return err
	}
	switch {
	case ended:
		c.close()
	case c.idle():
		c.withdraw(func(m guard.Member) bool { return m.Started && m.Healthy && !m.Learner && !c.justIntended(m) })
	}
	c.errors()
	c.outcome()
	c.progressing()
	return c.persist(ctx)
}

// ended looks at pods and claims in the API server once more before it believes that
// nothing is left: a cache may not have heard of the last one.
func (c *cycle) ended(ctx context.Context) (bool, error) {
	op := c.etcd.Status.ScaleOperation
	if op == nil || c.acted || !guard.Ended(c.recorded(), c.progress()) {
		return false, nil
	}
	if op.Type != v1alpha1.ScaleIn {
		return true, nil
	}
	if err := c.readPods(ctx, c.Live); err != nil {
		return false, err
	}
	return !c.remains(), nil
}

// close ends the recorded change.
func (c *cycle) close() {
	op := c.etcd.Status.ScaleOperation
	if op.Type == v1alpha1.ScaleOut && c.joining() != nil {
		setCondition(c.etcd, v1alpha1.ConditionBootstrappedWithExistingCluster, true, v1alpha1.ReasonJoined, "Every member is a voter of the source's cluster.", c.now())
	}
	c.event(v1alpha1.EventScaleOperationEnded, fmt.Sprintf("%s from %d to %d members is done.", op.Type, op.From, op.To))
	c.Metrics.ended(c.etcd, c.Clock.Since(op.StartedAt.Time))
	c.clearOperation()
	removeCondition(c.etcd, v1alpha1.ConditionStalled)
	c.withdraw(func(guard.Member) bool { return true })
	c.ready()
	c.soon(soonest)
}

// idle tells whether nothing asks for a removal: a member that was to be replaced may
// have come back.
func (c *cycle) idle() bool {
	return c.view != nil && c.etcd.Status.ScaleOperation == nil && !c.acted && len(c.failures) == 0 && c.doing == "" &&
		c.etcd.DeletionTimestamp.IsZero() && !c.decommissioned()
}

// withdraw drops intended removals that never happened and never will, of the listed
// members that stay.
func (c *cycle) withdraw(stays func(guard.Member) bool) {
	ledger := guard.Ledger(c.etcd.Status.RemovedMembers)
	for _, m := range c.view.Members {
		if stays(m) {
			ledger = ledger.Withdraw(hexOf(m.ID), c.etcd.Status.ClusterID)
		}
	}
	c.etcd.Status.RemovedMembers = ledger
}

// maxErrors is what the API allows.
const maxErrors = 10

// errors replaces lastErrors by what stands in the way now: an error stays as long as
// it does, and no longer, and one that stays does not flicker.
func (c *cycle) errors() {
	before := c.etcd.Status.LastErrors
	var after []v1alpha1.LastError
	for _, f := range c.failures[:min(len(c.failures), maxErrors)] {
		text := conditions.Cut(f.text, conditions.MaxMessage)
		next := v1alpha1.LastError{Code: f.code, Description: text, ObservedAt: c.now()}
		i := slices.IndexFunc(before, func(e v1alpha1.LastError) bool { return e.Code == f.code })
		if i < 0 {
			c.warn(v1alpha1.EventBlocked, string(f.code)+": "+f.text)
		} else if before[i].Description == text && c.Clock.Since(before[i].ObservedAt.Time) < observedEvery {
			next.ObservedAt = before[i].ObservedAt
		}
		after = append(after, next)
	}
	for _, e := range before {
		if !slices.ContainsFunc(after, func(a v1alpha1.LastError) bool { return a.Code == e.Code }) {
			c.event(v1alpha1.EventUnblocked, string(e.Code)+" is resolved.")
		}
	}
	c.etcd.Status.LastErrors = after
}

// observedEvery is how often the time of an error that stays is written anew.
const observedEvery = time.Minute

// outcome is the last operation.
func (c *cycle) outcome() {
	last := c.etcd.Status.LastOperation
	state, text := v1alpha1.StateSucceeded, "Everything is as spec asks."
	switch ready := findCondition(c.etcd, v1alpha1.ConditionReady); {
	case len(c.failures) > 0:
		state, text = v1alpha1.StateError, c.failures[0].text
	case c.etcd.Status.ScaleOperation != nil && c.replicas() > 0:
		state, text = v1alpha1.StateRequeue, or(c.doing, ready.Message)
	case c.doing != "":
		state, text = v1alpha1.StateRequeue, c.doing
	case ready.Status != metav1.ConditionTrue && ready.Reason != v1alpha1.ReasonHibernated && ready.Reason != v1alpha1.ReasonDecommissioned:
		state, text = v1alpha1.StateRequeue, ready.Message
	case ready.Status != metav1.ConditionTrue:
		text = ready.Message
	}
	if state == v1alpha1.StateRequeue {
		c.soon(busy)
	}
	text = conditions.Cut(text, conditions.MaxMessage)
	if last.State == state && last.Description == text {
		return
	}
	last.State, last.Description, last.RunID, last.LastUpdateTime = state, text, c.runID, c.now()
}

// progressing sets Reconciling while there is something to do, and Stalled once that
// has made no progress for too long. The message of Reconciling is how far things have
// come, and its time is when they last got on.
func (c *cycle) progressing() {
	e := c.etcd
	op := e.Status.ScaleOperation
	if c.waiting.text != "" {
		c.sayWaiting()
		return
	}
	if op == nil || c.replicas() == 0 {
		removeCondition(e, v1alpha1.ConditionReconciling)
		removeCondition(e, v1alpha1.ConditionStalled)
		return
	}
	far := c.far()
	before := findCondition(e, v1alpha1.ConditionReconciling)
	if before == nil || before.Message != far {
		removeCondition(e, v1alpha1.ConditionReconciling)
		removeCondition(e, v1alpha1.ConditionStalled)
	}
	setCondition(e, v1alpha1.ConditionReconciling, true, v1alpha1.ReasonInProgress, far, c.now())
	since := findCondition(e, v1alpha1.ConditionReconciling).LastTransitionTime.Time
	c.Metrics.waiting(e, c.Clock.Since(since))
	if c.Clock.Since(since) >= c.deadline() {
		setCondition(e, v1alpha1.ConditionStalled, true, v1alpha1.ReasonDeadlineExceeded,
			fmt.Sprintf("No progress for %s: %s", c.deadline(), or(e.Status.LastOperation.Description, c.operationText())), c.now())
	}
}

// far is how far the change has come, in words that change with each step of it.
func (c *cycle) far() string {
	voters, learners := 0, 0
	for _, m := range c.etcd.Status.Members {
		if m.Role == v1alpha1.RoleLearner {
			learners++
		} else if m.Started {
			voters++
		}
	}
	return fmt.Sprintf("%s %d voters, %d learners, %d replicas.", c.operationText(), voters, learners, c.etcd.Status.Replicas)
}

func (c *cycle) sameStatus() bool {
	return equality.Semantic.DeepEqual(c.etcd.Status, c.read.Status)
}

// writeStatus writes on condition that nobody has written the object since it was
// read; a conflict ends the cycle.
func (c *cycle) writeStatus(ctx context.Context) error {
	changed := c.read.DeepCopy()
	changed.Status = *c.etcd.Status.DeepCopy()
	if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	c.written(changed)
	c.etcd.Status = *changed.Status.DeepCopy()
	c.tell()
	return nil
}
