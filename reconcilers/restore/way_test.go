package restore

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// covers: C-26, C-30
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		label string
		facts facts
		want  way
	}{
		{"new", facts{marker: markerNone}, wayPrepare},
		{"new, and the store is away", facts{marker: markerUnknown}, wayUnknown},
		{"new, and its backup is gone: preparing says so", facts{marker: markerUnknown, unreachable: true}, wayPrepare},
		{"new, beside another's marker: preparing says so", facts{marker: markerOther}, wayPrepare},
		{"paused before the marker", facts{phase: v1alpha1.PhasePaused, marker: markerNone}, wayStuck},
		{"paused before the marker, store away", facts{phase: v1alpha1.PhasePaused, marker: markerUnknown}, wayStuck},
		{"marker written and status not", facts{phase: v1alpha1.PhasePending, marker: markerOurs, at: v1alpha1.StepWiping}, wayJob},
		{"at work", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepWiping, marker: markerOurs, at: v1alpha1.StepWiping}, wayJob},
		{"at work, store away", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepWiping, marker: markerUnknown}, wayUnknown},
		{"failed", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepWiping, marker: markerOurs, failed: true}, wayPaused},
		{"failed and taken up again", facts{phase: v1alpha1.PhasePaused, step: v1alpha1.StepWiping, marker: markerOurs, failed: true, released: true}, wayRetry},
		{"failed, and finished by command line", facts{phase: v1alpha1.PhasePaused, step: v1alpha1.StepWiping, marker: markerOurs, done: true}, wayTail},
		{"recreated after the rewind", facts{marker: markerOurs, at: v1alpha1.StepRejoining}, wayJob},
		{"etcd complete", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepRejoining, marker: markerOurs, done: true}, wayTail},
		{"ended, status not written", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepReconciling, marker: markerNone}, wayComplete},
		{"marker gone too early", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepRejoining, marker: markerNone}, wayAstray},
		{"another's marker in the middle", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepWiping, marker: markerOther}, wayAstray},
		{"unfinished beside the restore that brought it back", facts{phase: v1alpha1.PhaseRunning, step: v1alpha1.StepReconciling, marker: markerOther, older: true}, wayBehind},
		{"came back, and had not begun", facts{marker: markerOther, older: true}, wayBehind},
		{"came back", facts{phase: v1alpha1.PhaseHeld, marker: markerNone}, wayHeld},
		{"came back at a step, and is not gone on with", facts{phase: v1alpha1.PhaseHeld, step: v1alpha1.StepReconciling, marker: markerNone}, wayHeld},
		{"came back and was released", facts{phase: v1alpha1.PhaseHeld, marker: markerNone, released: true}, wayRelease},
		{"an older one of the name came back completed", facts{phase: v1alpha1.PhaseCompleted, marker: markerOurs, done: true}, wayTail},
		{"an older one of the name came back held", facts{phase: v1alpha1.PhaseHeld, marker: markerOurs}, wayJob},
		{"completed", facts{phase: v1alpha1.PhaseCompleted, marker: markerOther}, wayOver},
		{"deleted while nothing is done", facts{deleted: true, marker: markerNone}, wayDrop},
		{"deleted, never begun, store away", facts{deleted: true, marker: markerUnknown}, wayDrop},
		{"deleted while it wipes", facts{deleted: true, step: v1alpha1.StepWiping, marker: markerOurs, at: v1alpha1.StepWiping}, wayRefuse},
		{"deleted while it recovers", facts{deleted: true, step: v1alpha1.StepRecovering, marker: markerOurs, at: v1alpha1.StepRecovering}, wayRefuse},
		{"deleted while others join", facts{deleted: true, step: v1alpha1.StepRejoining, marker: markerOurs, at: v1alpha1.StepRejoining}, wayForget},
		{"deleted after a failure", facts{deleted: true, step: v1alpha1.StepWiping, marker: markerOurs, at: v1alpha1.StepWiping, failed: true}, wayForget},
		{"deleted at a step, store away", facts{deleted: true, step: v1alpha1.StepRejoining, marker: markerUnknown}, wayUnknown},
		{"deleted at a step, backup gone", facts{deleted: true, step: v1alpha1.StepRejoining, marker: markerUnknown, unreachable: true}, wayDrop},
		{"deleted beside another's marker", facts{deleted: true, step: v1alpha1.StepWiping, marker: markerOther}, wayDrop},
	} {
		if got := choose(c.facts); got != c.want {
			t.Errorf("%s: %s, want %s", c.label, got, c.want)
		}
	}
}
