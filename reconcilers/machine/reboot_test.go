package machine

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// A machine whose configuration waits for a reboot says so, and is Ready all the same; one
// that does not answer the question keeps what it said; one that has rebooted says it no
// more.
//
// covers: C-23
func TestRebootRequired(t *testing.T) {
	p := fresh(t, func(*v1alpha1.TalosMachine) {})
	if m := p.visited(t, "cp-1"); meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRebootRequired) != nil {
		t.Errorf("from the start: %+v", m.Status.Conditions)
	}
	p.staged["cp-1"] = true
	p.configErr = talos.ErrDenied
	if m := p.visited(t, "cp-1"); meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRebootRequired) != nil {
		t.Errorf("nobody was told, and it is said: %+v", m.Status.Conditions)
	}
	for _, fault := range []error{nil, talos.ErrUnreachable} {
		p.configErr = fault
		m := p.visited(t, "cp-1")
		got := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRebootRequired)
		if got == nil || got.Status != metav1.ConditionTrue || got.Reason != v1alpha1.ReasonConfigurationStaged || got.Message != stagedMessage {
			t.Errorf("staged, then %v: %+v", fault, got)
		}
		if !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) {
			t.Errorf("staged, then %v: it is not Ready: %+v", fault, m.Status.Conditions)
		}
	}
	p.configErr, p.staged["cp-1"] = nil, false
	if m := p.visited(t, "cp-1"); meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRebootRequired) != nil {
		t.Errorf("after its reboot: %+v", m.Status.Conditions)
	}
}
