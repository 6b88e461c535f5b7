package etcd

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// maxMessage is what a condition's message may have, in bytes.
const maxMessage = 4096

// cut shortens a text to what the API takes.
func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "")
}

// setCondition keeps the time of the last transition unless status or reason change:
// how long something has been so for one reason is what people ask.
func setCondition(e *v1alpha1.Etcd, kind string, status bool, reason, message string, now metav1.Time) {
	value := metav1.ConditionFalse
	if status {
		value = metav1.ConditionTrue
	}
	if before := findCondition(e, kind); before != nil && before.Status == value && before.Reason != reason {
		before.LastTransitionTime = now
	}
	meta.SetStatusCondition(&e.Status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: cut(message), ObservedGeneration: e.Generation, LastTransitionTime: now,
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
