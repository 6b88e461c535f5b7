package epoch

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

func TestHoldAndRelease(t *testing.T) {
	m := &v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "plant", Name: "cp-3", Annotations: map[string]string{"example.com/rack": "4"}}}
	if _, held := Held(m); held || Release(m) || HeldText("TalosMachine", m) != "" {
		t.Error("it is held from the start")
	}
	if !Hold(m, "7") || Hold(m, "7") {
		t.Error("to hold it is news once")
	}
	if epoch, held := Held(m); epoch != "7" || !held {
		t.Errorf("held is %q, %t", epoch, held)
	}
	want := "Restore 7 brought this TalosMachine back with work that was under way when the snapshot was taken, and nothing of it that cannot be undone is done. See that it is still wanted, then let it go on: quorate operation release talosmachine/cp-3 -n plant"
	if got := HeldText("TalosMachine", m); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !Release(m) || Release(m) || len(m.Annotations) != 1 {
		t.Errorf("released once, annotations %v", m.Annotations)
	}
}

// A TalosOperation is held by its phase. Its release is a request for that epoch.
func TestOperationIsReleasedByRequest(t *testing.T) {
	op := &v1alpha1.TalosOperation{}
	Hold(op, "7")
	if _, held := Held(op); held || Release(op) {
		t.Error("it is held by the annotation alone")
	}
	op.Status.Phase = v1alpha1.PhaseHeld
	if Released(op) {
		t.Error("it is released before anybody asked")
	}
	if !Release(op) || Release(op) || !Released(op) || op.Annotations[v1alpha1.AnnotationRelease] != "7" {
		t.Errorf("annotations %v", op.Annotations)
	}
	Hold(op, "8")
	if Released(op) {
		t.Error("it is released by what was asked for another epoch")
	}
}

// A paused TalosOperation is not held, and is released by any value, once.
func TestPausedOperationIsReleased(t *testing.T) {
	op := &v1alpha1.TalosOperation{}
	if Release(op) {
		t.Error("a pending one is released")
	}
	op.Status.Phase = v1alpha1.PhasePaused
	if _, held := Held(op); held || Released(op) || HeldText("TalosOperation", op) != "" {
		t.Error("it is held, or released before anybody asked")
	}
	if !Release(op) || Release(op) || !Released(op) || op.Annotations[v1alpha1.AnnotationRelease] != "retry" {
		t.Errorf("annotations %v", op.Annotations)
	}
	op.Annotations[v1alpha1.AnnotationRelease] = "please"
	if !Released(op) || Release(op) {
		t.Error("another value does not release it")
	}
}
