package cluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/internal/conditions"
)

func (c *cycle) set(kind string, is metav1.ConditionStatus, reason, message string) {
	conditions.Set(&c.cluster.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: c.cluster.Generation, LastTransitionTime: metav1.NewTime(c.Clock.Now()),
	})
}

func (c *cycle) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(c.cluster.Status.Conditions, kind)
}
