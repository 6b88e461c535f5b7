package restore

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// A started restore is not deleted while etcd is away; after that, marker and copy go
// first, so that it never comes back.
//
// covers: C-30, C-31
func TestDeleted(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.remove(w.op())
	w.look()
	o := w.op()
	if w.loaded() == nil || !slices.Contains(o.Finalizers, v1alpha1.FinalizerEtcdRestore) || w.jobs.starts != 1 {
		t.Fatalf("deleted while it wipes: marker %v, finalizers %q, %d jobs", w.loaded(), o.Finalizers, w.jobs.starts)
	}
	if w.told("TalosOperation", "Warning", v1alpha1.ReasonDeletionWaits) == "" {
		t.Errorf("nobody was told: %q", w.events)
	}
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.look()
	if err := w.api.Get(t.Context(), rewind, &v1alpha1.TalosOperation{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the operation is left: %v", err)
	}
	if w.loaded() != nil {
		t.Error("the marker is left")
	}
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.api.Get(t.Context(), rewind, &v1alpha1.TalosOperation{}); err == nil {
		t.Error("it came back")
	}
}
