package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxMessage is what a condition's message may have, maxNote an event's; in bytes.
	maxMessage = 4096
	maxNote    = 1024
)

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// oneLine is an error's text in one line, without a full stop.
func oneLine(err error) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(err.Error()), " "), ".")
}

// set keeps the time of the last transition unless status or reason change.
func (c *cycle) set(kind string, is metav1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(c.Clock.Now())
	if before := c.condition(kind); before != nil && before.Status == is && before.Reason != reason {
		before.LastTransitionTime = now
	}
	meta.SetStatusCondition(&c.cluster.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: cut(message, maxMessage), ObservedGeneration: c.cluster.Generation, LastTransitionTime: now,
	})
}

func (c *cycle) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(c.cluster.Status.Conditions, kind)
}
