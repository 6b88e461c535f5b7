package backup

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/talos"
)

var errBundle = talos.ErrBundle

func (c *cycle) set(kind string, is metav1.ConditionStatus, reason, message string) {
	conditions.Set(&c.backup.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: c.backup.Generation, LastTransitionTime: metav1.NewTime(c.Clock.Now()),
	})
}

// status says what is in the store, and what stands in the way.
func (c *cycle) status(ctx context.Context) error {
	s := &c.backup.Status
	s.ObservedGeneration = c.backup.Generation
	if c.seen != nil {
		s.Snapshots = c.seen.snapshots()
		c.Metrics.observe(c.backup, c.seen, c.Clock.Now())
	}
	was := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady).DeepCopy()
	c.verdict()
	c.abnormal()
	c.soon(usual)
	if !c.dueAt.IsZero() && c.trouble == nil && c.waits(c.backup.UID).failures == 0 {
		c.soon(c.dueAt.Sub(c.Clock.Now()))
	}
	if err := c.persist(ctx); err != nil {
		return err
	}
	c.tell(was)
	return nil
}

// verdict sets Ready. A restore changes nothing about the last snapshot; after a failure
// Ready stays False until one is taken.
func (c *cycle) verdict() {
	is := metav1.ConditionFalse
	switch ready := meta.FindStatusCondition(c.backup.Status.Conditions, v1alpha1.ConditionReady); {
	case c.trouble != nil && c.trouble.reason != v1alpha1.ReasonRestoreInProgress:
		c.set(v1alpha1.ConditionReady, is, c.trouble.reason, c.trouble.text)
	case c.waits(c.backup.UID).failures > 0 && ready != nil && ready.Status == is:
		// It is said why, and the next attempt is to come.
	case c.seen == nil || len(c.seen.Whole) == 0:
		c.set(v1alpha1.ConditionReady, is, v1alpha1.ReasonNoSnapshot, "No snapshot is in the store yet."+c.nextText())
	default:
		c.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSnapshotProved, c.newest()+c.nextText())
	}
}

func (c *cycle) newest() string {
	e := c.seen.newest(c.Clock.Now())
	if e == nil {
		e = &c.seen.Whole[0]
	}
	var members []string
	for _, m := range e.Members {
		members = append(members, m.Name)
	}
	text := fmt.Sprintf("Snapshots: %d. The newest, %s, has %d keys at revision %d and members %s", len(c.seen.Whole), e.Name, e.Keys, e.Revision, strings.Join(members, ", "))
	if e.Verified == nil {
		return text + "; it was never read back."
	}
	return text + "; it was read back and opened."
}

func (c *cycle) nextText() string {
	if c.dueAt.IsZero() {
		return ""
	}
	return " The next is due at " + c.dueAt.UTC().Format(time.RFC3339) + "."
}

// abnormal sets Reconciling and Stalled, which are there only while they are True.
func (c *cycle) abnormal() {
	all := &c.backup.Status.Conditions
	meta.RemoveStatusCondition(all, v1alpha1.ConditionReconciling)
	switch t := c.trouble; {
	case t != nil && t.stalls:
		c.set(v1alpha1.ConditionStalled, metav1.ConditionTrue, t.reason, t.text)
		return
	case t != nil:
		c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, t.reason, t.text)
	case c.waits(c.backup.UID).failures > 0:
		until := c.waits(c.backup.UID).until()
		c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonInProgress, "The next attempt is at "+until.UTC().Format(time.RFC3339)+".")
	}
	meta.RemoveStatusCondition(all, v1alpha1.ConditionStalled)
}

// persist writes the status if it differs, on condition that nobody has written the
// object meanwhile.
func (c *cycle) persist(ctx context.Context) error {
	if equality.Semantic.DeepEqual(c.backup.Status, c.before.Status) {
		return nil
	}
	changed := c.before.DeepCopy()
	changed.Status = *c.backup.Status.DeepCopy()
	if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	c.hold(changed)
	return nil
}

// tell tells of a change of Ready.
func (c *cycle) tell(was *metav1.Condition) {
	is := meta.FindStatusCondition(c.backup.Status.Conditions, v1alpha1.ConditionReady)
	if was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return
	}
	kind, reason := corev1.EventTypeWarning, v1alpha1.EventBackupFailed
	switch {
	case is.Status == metav1.ConditionTrue:
		kind, reason = corev1.EventTypeNormal, v1alpha1.EventBackupProved
	case is.Reason == v1alpha1.ReasonNoSnapshot:
		return // nothing has happened
	}
	c.log.Info(is.Message, "reason", reason)
	c.Events.Eventf(c.backup, nil, kind, reason, "Reconcile", "%s", conditions.Cut(is.Message, conditions.MaxNote))
}
