package restore

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
)

// note is an event that is told once the status that it goes with is written: of the
// operation, and of the cluster too where people look there.
type note struct {
	kind, reason, text string
	cluster            bool
}

func (c *cycle) warn(reason, text string) {
	c.notes = append(c.notes, note{corev1.EventTypeWarning, reason, text, true})
}

func (c *cycle) normal(reason, text string) {
	c.notes = append(c.notes, note{corev1.EventTypeNormal, reason, text, true})
}

func (c *cycle) tell() {
	for _, n := range c.notes {
		c.log.Info(n.text, "reason", n.reason)
		text := conditions.Cut(n.text, conditions.MaxNote)
		c.Events.Eventf(c.op, nil, n.kind, n.reason, "Restore", "%s", text)
		if n.cluster && c.cluster != nil {
			c.Events.Eventf(c.cluster, c.op, n.kind, n.reason, "Restore", "%s", text)
		}
	}
	c.notes = nil
}

// persist writes the status if it differs, on condition that nobody has written the
// object meanwhile, and then tells what happened.
func (c *cycle) persist(ctx context.Context) error {
	c.op.Status.ObservedGeneration = c.op.Generation
	if !equality.Semantic.DeepEqual(c.op.Status, c.read.Status) {
		changed := c.read.DeepCopy()
		changed.Status = *c.op.Status.DeepCopy()
		if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
		c.op, c.read = changed.DeepCopy(), changed
	}
	c.tell()
	return nil
}

// rest writes what is to be said and ends the cycle; the next is due after a time.
func (c *cycle) rest(ctx context.Context, again time.Duration) error {
	c.again = again
	if err := c.persist(ctx); err != nil {
		return err
	}
	return errOver
}

func (c *cycle) set(kind string, is bool, reason, message string) {
	value := metav1.ConditionFalse
	if is {
		value = metav1.ConditionTrue
	}
	conditions.Set(&c.op.Status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message, ObservedGeneration: c.op.Generation, LastTransitionTime: metav1.NewTime(c.Clock.Now()),
	})
}

func (c *cycle) unset(kinds ...string) {
	for _, kind := range kinds {
		meta.RemoveStatusCondition(&c.op.Status.Conditions, kind)
	}
}

// onward says what is done or waited for.
func (c *cycle) onward(reason, message string) {
	c.restoring().Message = conditions.Cut(message, conditions.MaxMessage)
	c.set(v1alpha1.ConditionReady, false, reason, message)
	c.set(v1alpha1.ConditionReconciling, true, reason, message)
	c.unset(v1alpha1.ConditionStalled)
}

// stalled says what stands in the way.
func (c *cycle) stalled(reason, message string) {
	c.restoring().Message = conditions.Cut(message, conditions.MaxMessage)
	c.set(v1alpha1.ConditionReady, false, reason, message)
	c.set(v1alpha1.ConditionStalled, true, reason, message)
	c.unset(v1alpha1.ConditionReconciling)
}

// pause stops the operation for good, or until a person has it go on.
func (c *cycle) pause(ctx context.Context, why string) error {
	if c.read.Status.Phase != v1alpha1.PhasePaused {
		c.warn(v1alpha1.ReasonRestorePaused, why)
	}
	c.op.Status.Phase, c.op.Status.FailureReason = v1alpha1.PhasePaused, conditions.Cut(why, conditions.MaxMessage)
	c.stalled(v1alpha1.ReasonRestorePaused, why)
	return c.rest(ctx, blocked)
}

func (c *cycle) restoring() *v1alpha1.EtcdRestoreStatus {
	if c.op.Status.EtcdRestore == nil {
		c.op.Status.EtcdRestore = &v1alpha1.EtcdRestoreStatus{}
	}
	return c.op.Status.EtcdRestore
}

// mirror has the status say what the marker says.
func (c *cycle) mirror() {
	m, s := c.marker, c.restoring()
	c.op.Status.Phase, c.op.Status.FailureReason = v1alpha1.PhaseRunning, ""
	s.Step, s.Target, s.ReconcileRequest = m.Step, m.Target, m.ReconcileRequest
	s.SnapshotTime, s.RequestedAt = stamp(m.Snapshot.Time), stamp(m.RequestedAt)
	c.mirrorWipes()
}

// mirrorWipes has a condition for each machine that was wiped again, since it had data
// of the old etcd: when it was.
func (c *cycle) mirrorWipes() {
	for _, n := range c.marker.Nodes {
		if n.StaleWipeAt == nil {
			continue
		}
		at := "It had data of the old etcd and was wiped again at " + clockTime(*n.StaleWipeAt) + "."
		c.set(v1alpha1.ConditionStaleWipeSentPrefix+n.Machine, true, v1alpha1.ReasonStaleData, at)
	}
}

func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t)
	return &out
}
