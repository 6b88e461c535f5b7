package restore

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// A restore ends without the machine that a person has left out of it, and says all the
// while that this one has to stay off, and at its end what to do with it.
//
// covers: C-41
func TestLeftOutIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) {
		m.Nodes[2].Address = "192.0.2.3"
		m.LeftOut, m.Nodes = m.Nodes[2:], m.Nodes[:2]
	})
	w.look()
	const off = " Left out, and to stay off until it is wiped: cp-3."
	if got := w.op().Status.EtcdRestore.Message; !strings.HasSuffix(got, off) {
		t.Errorf("while the job is at work: %q, want %q at its end", got, off)
	}
	change(w, client.ObjectKey{Namespace: "default", Name: "cp-3"}, &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
		m.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "It does not answer."}}
	})
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.look()
	if got := w.op().Status.EtcdRestore.Message; !strings.HasSuffix(got, off) || strings.Contains(got, "TalosMachine cp-3") {
		t.Errorf("while machines reconcile: %q", got)
	}
	w.echo()
	w.look()
	o := w.op()
	if got := o.Status.EtcdRestore.Message; o.Status.Phase != v1alpha1.PhaseCompleted || !strings.Contains(got, "cp-3 (192.0.2.3) is left out: it must be off, and stay off until it is wiped.") ||
		!strings.Contains(got, "kubectl delete talosmachine NAME") {
		t.Errorf("at the end: %s, %q", o.Status.Phase, got)
	}
}
