package etcd

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// retries is a little longer than the longest pause between two tries of the
// StatefulSet controller (1000 s, client-go's default rate limiter): what it said
// before that is over.
const retries = 20 * time.Minute

// failedCreate is its reason of the event that tells of a pod that was not made.
const failedCreate = "FailedCreate"

// unmade asks why pods are missing that the StatefulSet is to have, for a quota say:
// its controller tells that in events alone. That is for people and for a learner
// that nothing else can be said of; a cycle goes on without it.
func (c *cycle) unmade(ctx context.Context) {
	if c.set == nil || c.set.Status.ObservedGeneration != c.set.Generation || c.made() {
		return
	}
	var told eventsv1.EventList
	err := c.Live.List(ctx, &told, client.InNamespace(c.etcd.Namespace), client.MatchingFields{
		"regarding.kind": "StatefulSet", "regarding.name": c.set.Name, "reason": failedCreate,
	})
	if err != nil {
		c.log.V(1).Info("no events of the StatefulSet", "why", err.Error())
		return
	}
	c.unmadeWhy = lastWord(told.Items, c.set, c.Clock.Now().Add(-retries))
}

// made tells whether every pod is there that the StatefulSet is to have.
func (c *cycle) made() bool {
	for i := range c.recorded().StatefulSet {
		if c.podOf(i) == nil {
			return false
		}
	}
	return true
}

// lastWord is the newest of the events about a StatefulSet since a time.
func lastWord(told []eventsv1.Event, set *appsv1.StatefulSet, since time.Time) (word string) {
	for _, e := range told {
		if at := lastAt(e); e.Type == corev1.EventTypeWarning && e.Regarding.UID == set.UID && at.After(since) {
			word, since = e.Note, at
		}
	}
	return word
}

// lastAt is when an event was seen last; those of older recorders have it elsewhere.
func lastAt(e eventsv1.Event) time.Time {
	at := e.EventTime.Time
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	if e.DeprecatedLastTimestamp.After(at) {
		at = e.DeprecatedLastTimestamp.Time
	}
	return at
}

// stillness is for how long nothing has changed that status knows of.
func (c *cycle) stillness() time.Duration {
	var last metav1.Time
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionReconciling} {
		if condition := findCondition(c.etcd, kind); condition != nil && last.Before(&condition.LastTransitionTime) {
			last = condition.LastTransitionTime
		}
	}
	return c.Clock.Since(last.Time)
}
