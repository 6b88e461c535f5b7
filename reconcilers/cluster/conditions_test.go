package cluster

import (
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// How long something has been so for one reason is what people ask: another reason is
// another beginning, another message is none.
func TestTransitionTimes(t *testing.T) {
	w := newWorld(t)
	since := func(kind string) time.Duration {
		t.Helper()
		for _, c := range w.cluster().Status.Conditions {
			if c.Type == kind {
				return c.LastTransitionTime.Sub(start)
			}
		}
		t.Fatalf("there is no condition %s", kind)
		return 0
	}
	w.members = w.members[:2]
	w.reconcile()
	w.after(time.Minute)
	ill(&w.members[0]) // the reason becomes NoQuorum
	w.reconcile()
	if got := since(v1alpha1.ConditionReady); got != time.Minute {
		t.Errorf("not ready for this reason since %s", got)
	}
	w.after(time.Minute)
	w.viewErr = errList // the message becomes another one
	w.reconcile()
	if got := since(v1alpha1.ConditionReady); got != time.Minute {
		t.Errorf("not ready for this reason since %s", got)
	}
	if got := since(v1alpha1.ConditionQuorate); got != time.Minute {
		t.Errorf("without quorum since %s", got)
	}
}
