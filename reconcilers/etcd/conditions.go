package etcd

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
)

func setCondition(e *v1alpha1.Etcd, kind string, status bool, reason, message string, now metav1.Time) {
	value := metav1.ConditionFalse
	if status {
		value = metav1.ConditionTrue
	}
	conditions.Set(&e.Status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message, ObservedGeneration: e.Generation, LastTransitionTime: now,
	})
}

func removeCondition(e *v1alpha1.Etcd, kind string) {
	meta.RemoveStatusCondition(&e.Status.Conditions, kind)
}

func findCondition(e *v1alpha1.Etcd, kind string) *metav1.Condition {
	return meta.FindStatusCondition(e.Status.Conditions, kind)
}

func isTrue(e *v1alpha1.Etcd, kind string) bool {
	return meta.IsStatusConditionTrue(e.Status.Conditions, kind)
}

// oneLine is an error's text in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
