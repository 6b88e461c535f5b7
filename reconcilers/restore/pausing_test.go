package restore

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// ways are all in which somebody might pause a restore, past the gate or where there is
// none.
var ways = []struct {
	label string
	try   func(w *world)
}{
	{"the phase Paused", func(w *world) { w.phase(v1alpha1.PhasePaused) }},
	{"the phase Held", func(w *world) { w.phase(v1alpha1.PhaseHeld) }},
	{"the phase Completed", func(w *world) { w.phase(v1alpha1.PhaseCompleted) }},
	{"no status", func(w *world) {
		change(w, rewind, &v1alpha1.TalosOperation{}, true, func(o *v1alpha1.TalosOperation) { o.Status = v1alpha1.TalosOperationStatus{} })
	}},
	{"the annotation that holds", func(w *world) { w.annotate(v1alpha1.AnnotationHeldByRestore) }},
	{"the annotation that releases", func(w *world) { w.annotate(v1alpha1.AnnotationRelease) }},
	{"an annotation of others", func(w *world) { w.annotate("example.com/paused") }},
	{"its deletion", func(w *world) { w.remove(w.op()) }},
	{"its removal by force", func(w *world) { w.lost() }},
	{"the deletion of its backup", func(w *world) { w.remove(nightly()) }},
	{"the deletion of its cluster", func(w *world) { w.remove(quay()) }},
	{"the deletion of a machine", func(w *world) { w.remove(plane(2)) }},
	{"a machine that is not approved any more", func(w *world) {
		change(w, client.ObjectKeyFromObject(plane(2)), &v1alpha1.TalosMachine{}, false, func(m *v1alpha1.TalosMachine) { m.Spec.Approved = false })
	}},
	{"other settings of the store", func(w *world) { w.broken["store"] = fmt.Errorf("%w: there is no Secret", store.ErrSettings) }},
	{"a store that is away", func(w *world) { w.broken["store"] = store.ErrUnreachable }},
	{"another operation", func(w *world) {
		other := order()
		other.Name, other.UID = "other", "other-1"
		if err := w.api.Create(w.t.Context(), other); err != nil {
			w.t.Fatal(err)
		}
	}},
}

func (w *world) phase(p v1alpha1.OperationPhase) {
	w.t.Helper()
	change(w, rewind, &v1alpha1.TalosOperation{}, true, func(o *v1alpha1.TalosOperation) { o.Status.Phase = p })
}

func (w *world) annotate(name string) {
	w.t.Helper()
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) { o.Annotations[name] = "true" })
}

// Whatever is done to the objects while a restore works, the job goes on, its marker stays
// without a failure, and the operation says that it runs.
//
// covers: C-31
func TestNobodyPauses(t *testing.T) {
	for _, step := range []v1alpha1.RestoreStep{v1alpha1.StepWiping, v1alpha1.StepRecovering} {
		for _, way := range ways {
			w := newWorld(t)
			w.look()
			w.edit(func(m *restore.Marker) { m.Step = step })
			w.look()
			way.try(w)
			for range 3 {
				if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: rewind}); err != nil {
					t.Fatalf("%s, %s: %v", step, way.label, err)
				}
			}
			if !w.jobs.state.Running || w.jobs.ended || w.jobs.starts != 1 {
				t.Errorf("%s, %s: the job runs %t, was ended %t, started %d times", step, way.label, w.jobs.state.Running, w.jobs.ended, w.jobs.starts)
			}
			if m := w.loaded(); m == nil || m.Failure != "" || m.Step != step {
				t.Errorf("%s, %s: the marker is %+v", step, way.label, m)
			}
			o := &v1alpha1.TalosOperation{}
			if err := w.api.Get(t.Context(), rewind, o); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			} else if err != nil {
				w.resumed(way.label)
				continue
			}
			if o.Status.Phase != v1alpha1.PhaseRunning || o.Status.FailureReason != "" {
				t.Errorf("%s, %s: the operation is %s: %q", step, way.label, o.Status.Phase, o.Status.FailureReason)
			}
		}
	}
}

// resumed has an operation that is gone come back, and run.
func (w *world) resumed(label string) {
	w.t.Helper()
	w.revision = 900
	if err := w.resume.Pass(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning || !slices.Contains(o.Finalizers, v1alpha1.FinalizerEtcdRestore) {
		w.t.Errorf("%s: the operation is %s, with finalizers %q", label, o.Status.Phase, o.Finalizers)
	}
}
