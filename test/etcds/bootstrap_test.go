package etcds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A whole migration: an Etcd joins another's cluster, one source member is taken off
// its list, then all. The source does not fight back, and rests when it has none left.
//
//
func TestMigration(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 3)
	source.put("before")
	moved := join(t, source, "moved", 3, sourced(source, 0, 1, 2))
	moved.lists("main-0", "main-1", "main-2", "moved-0", "moved-1", "moved-2")
	if got := recorded(moved.get()); !slices.Equal(got, []string{"main-0", "main-1", "main-2"}) {
		t.Errorf("recorded as joined: %v", got)
	}
	moved.put("joined")
	source.written = moved.written
	source.kept()
	writes := moved.write()

	before := source.podUIDs()
	must(t, moved.list(source.listedAs(0, 2)...))
	moved.until("the removal to be told", func(e *v1alpha1.Etcd) error {
		if c := condition(e, v1alpha1.ConditionScaleOperationInProgress); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonBootstrapMembersRemoval {
			return errNotYet
		}
		return nil
	})
	moved.shares(3)
	moved.lists("main-0", "main-2", "moved-0", "moved-1", "moved-2")
	if got := recorded(moved.get()); !slices.Equal(got, []string{"main-0", "main-2"}) {
		t.Errorf("recorded as joined: %v", got)
	}
	source.until("the source to leave its removed member alone", func(e *v1alpha1.Etcd) error {
		if c := condition(e, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonMemberUnhealthy || !strings.Contains(c.Message, "main-1 was removed by somebody else") {
			return errNotYet
		}
		return nil
	})
	if after := source.podUIDs(); after[source.pod(1)] != before[source.pod(1)] {
		t.Error("the source has replaced the pod of its removed member")
	}

	source.lead(2)
	must(t, moved.list())
	moved.settled(3)
	moved.want(3)
	if got := recorded(moved.get()); len(got) > 0 {
		t.Errorf("recorded as joined: %v", got)
	}
	moved.told("LeaderMoved: Leadership moved from main-2", "MemberRemoved: Member main-2 is no member any more.")
	rests(t, source, moved)
	writes.kept()
	moved.kept()
}

// rests holds a source without members to its rest: it says so, nothing of it comes
// back, and it starts and ends no pods.
func rests(t *testing.T, source, moved *plant) {
	t.Helper()
	source.until("the source to say that it rests", func(e *v1alpha1.Etcd) error {
		if c := condition(e, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonDecommissioned {
			return errNotYet
		}
		if e.Status.LastOperation.State != v1alpha1.StateSucceeded || len(e.Status.LastErrors) > 0 {
			return fmt.Errorf("%w: %s", errNotYet, e.Status.LastOperation.State)
		}
		return nil
	})
	pods, members := source.podUIDs(), moved.names()
	source.passes(2)
	if got := condition(source.get(), v1alpha1.ConditionReady).Reason; got != v1alpha1.ReasonDecommissioned {
		t.Errorf("Ready for %s after a while, want Decommissioned", got)
	}
	for name, uid := range source.podUIDs() {
		if pods[name] != uid {
			t.Errorf("pod %s of a source at rest was made anew", name)
		}
	}
	if got := moved.names(); !slices.Equal(got, members) {
		t.Errorf("members %v, want %v as before", got, members)
	}
}
