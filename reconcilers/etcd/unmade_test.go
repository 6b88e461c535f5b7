package etcd

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestLastWord(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	event := func(kind string, uid types.UID, note string, change func(*eventsv1.Event)) eventsv1.Event {
		e := eventsv1.Event{Type: kind, Note: note, Regarding: corev1.ObjectReference{UID: uid}}
		change(&e)
		return e
	}
	at := func(minutes int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute)) }
	told := func(minutes int) func(*eventsv1.Event) {
		return func(e *eventsv1.Event) { e.DeprecatedLastTimestamp = at(minutes) }
	}
	series := func(minutes int) func(*eventsv1.Event) {
		return func(e *eventsv1.Event) {
			e.EventTime = metav1.NewMicroTime(noon.Add(-time.Hour))
			e.Series = &eventsv1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(minutes).Time)}
		}
	}
	const warning, normal = corev1.EventTypeWarning, corev1.EventTypeNormal
	for _, c := range []struct {
		name   string
		events []eventsv1.Event
		want   string
	}{
		{"none", nil, ""},
		{"one", []eventsv1.Event{event(warning, "a", "exceeded quota", told(1))}, "exceeded quota"},
		{"a series", []eventsv1.Event{event(warning, "a", "exceeded quota", series(1))}, "exceeded quota"},
		{"too old", []eventsv1.Event{event(warning, "a", "exceeded quota", told(-1))}, ""},
		{"of another set", []eventsv1.Event{event(warning, "b", "exceeded quota", told(1))}, ""},
		{"no complaint", []eventsv1.Event{event(normal, "a", "made", told(1))}, ""},
		{"the newest", []eventsv1.Event{event(warning, "a", "first", told(1)), event(warning, "a", "last", series(3)), event(warning, "a", "second", told(2))}, "last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lastWord(c.events, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "a"}}, noon); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
