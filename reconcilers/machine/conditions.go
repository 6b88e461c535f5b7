package machine

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
)

func sameStatus(a, b *v1alpha1.TalosMachine) bool {
	return equality.Semantic.DeepEqual(a.Status, b.Status)
}

func (c *cycle) set(kind string, is bool, reason, message string) {
	value := metav1.ConditionFalse
	if is {
		value = metav1.ConditionTrue
	}
	conditions.Set(&c.machine.Status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message, ObservedGeneration: c.machine.Generation, LastTransitionTime: metav1.NewTime(c.Clock.Now()),
	})
}

func (c *cycle) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(c.machine.Status.Conditions, kind)
}

func (c *cycle) drop(kind string) { meta.RemoveStatusCondition(&c.machine.Status.Conditions, kind) }

// told are the reasons of Removal that are events too, when they come.
var told = map[string]string{
	v1alpha1.ReasonRemovalApproved:         corev1.EventTypeNormal,
	v1alpha1.ReasonRemovalRefused:          corev1.EventTypeWarning,
	v1alpha1.ReasonNodeNameUnresolved:      corev1.EventTypeWarning,
	v1alpha1.ReasonEtcdMemberRemovalFailed: corev1.EventTypeWarning,
	v1alpha1.ReasonHeldByRestore:           corev1.EventTypeWarning,
}

// onward says how far the removal has come.
func (c *cycle) onward(reason, message string) {
	c.removal(true, reason, message)
	c.set(v1alpha1.ConditionReconciling, true, reason, message)
	c.drop(v1alpha1.ConditionStalled)
}

// stuck says what stands in the removal's way, and ends the cycle.
func (c *cycle) stuck(ctx context.Context, reason, message string) error {
	c.removal(false, reason, message)
	c.set(v1alpha1.ConditionStalled, true, reason, message)
	c.drop(v1alpha1.ConditionReconciling)
	c.letGo(ctx)
	return c.over(ctx, blocked)
}

// fail is stuck for want of anybody who removes the member.
func (c *cycle) fail(ctx context.Context, message string) error {
	return c.stuck(ctx, v1alpha1.ReasonEtcdMemberRemovalFailed, message)
}

func (c *cycle) removal(is bool, reason, message string) {
	before := c.condition(v1alpha1.ConditionRemoval)
	kind, tell := told[reason]
	if tell && (before == nil || before.Reason != reason) {
		c.note(kind, reason, message)
	}
	c.set(v1alpha1.ConditionRemoval, is, reason, message)
}

// reason is how far the removal has come, by the last thing that was said of it.
func (c *cycle) reason() string {
	if r := c.condition(v1alpha1.ConditionRemoval); r != nil {
		return r.Reason
	}
	return ""
}
