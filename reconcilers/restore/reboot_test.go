package restore

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// is has a machine's status have these conditions.
func (w *world) is(machine string, conditions ...metav1.Condition) {
	w.t.Helper()
	change(w, client.ObjectKey{Namespace: "default", Name: machine}, &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
		m.Status.Conditions = conditions
	})
}

// release has the operation go on, as a person does.
func (w *world) release() {
	w.t.Helper()
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) {
		o.Annotations[v1alpha1.AnnotationRelease] = "go on"
	})
}

// A machine that has reconciled, is Ready and wants a reboot is named and waited for until
// the limit, and then the operation is Paused. Once a person has rebooted it, it ends.
//
// covers: C-22, C-23, C-34
func TestMachineWantsAReboot(t *testing.T) {
	well := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.is("cp-2", well, metav1.Condition{Type: v1alpha1.ConditionRebootRequired, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonConfigurationStaged})
	w.look()
	w.echo()
	w.look()
	waits := "Reconciling: waiting for TalosMachine cp-2, which wants a reboot (RebootRequired). " +
		"A person has to reboot cp-2, whose condition RebootRequired says why; the restore reboots nothing for that."
	if got := w.op().Status.EtcdRestore.Message; got != waits {
		t.Errorf("it waits with %q, want %q", got, waits)
	}
	w.clock.SetTime(start.Add(150 * time.Minute))
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning {
		t.Errorf("%s at its limit, want Running: %q", o.Status.Phase, o.Status.FailureReason)
	}
	w.clock.SetTime(start.Add(150*time.Minute + time.Second))
	w.look()
	o := w.op()
	if o.Status.Phase != v1alpha1.PhasePaused || !strings.HasPrefix(o.Status.FailureReason, "The restore was not over within 2h30m0s. Last: "+waits) {
		t.Errorf("%s: %q", o.Status.Phase, o.Status.FailureReason)
	}
	w.release()
	w.is("cp-2", well)
	for range 3 {
		w.look()
	}
	w.ended()
}

// Neither what prepares a restore nor the job can reboot a machine but by its wipe.
//
// covers: C-23
func TestNothingReboots(t *testing.T) {
	for what, methods := range map[string]reflect.Type{"preparing": reflect.TypeFor[Node](), "the job": reflect.TypeFor[restore.NodeClient]()} {
		var named []string
		for m := range methods.Methods() {
			named = append(named, m.Name)
		}
		if slices.ContainsFunc(named, func(name string) bool {
			return strings.Contains(name, "Reboot") || name == "Apply" || name == "Shutdown"
		}) {
			t.Errorf("%s has %v", what, named)
		}
		if len(named) == 0 {
			t.Errorf("%s has no methods: this test sees none", what)
		}
	}
}
