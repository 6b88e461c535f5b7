package restore

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// The webhook that admits the operation may be away; a broken backup stops nobody; a
// newer marker is left alone, and told of once.
//
// covers: C-28
func TestResume(t *testing.T) {
	w := newWorld(t)
	w.revision = 900 // etcd is not rewound yet
	w.look()
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) { o.Finalizers = nil })
	w.remove(w.op())
	w.restart()
	w.broken["create *v1alpha1.TalosOperation"] = errors.New("connection refused")
	if err := w.resume.Pass(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a refused creation is tried again: %v", err)
	}
	w.broken["create *v1alpha1.TalosOperation"] = nil
	for range 2 {
		if err := w.resume.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning || o.Status.EtcdRestore.Step != v1alpha1.StepWiping || o.Annotations[v1alpha1.AnnotationRequestedBy] != "alice@example.com" {
		t.Errorf("made again: %+v, %q", o.Status, o.Annotations)
	}

	w.broken["store"] = store.ErrSettings
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Errorf("a store that cannot be loaded is passed over: %v", err)
	}
	w.broken["store"] = store.ErrUnreachable
	if err := w.resume.Pass(t.Context()); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("a store that is away is asked again: %v", err)
	}
	w.broken["store"] = nil
	w.edit(func(m *restore.Marker) { m.Schema = restore.Schema + 1 })
	for range 2 {
		if err := w.resume.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(w.events), func(e string) bool { return !strings.Contains(e, v1alpha1.ReasonNewerMarker) })); n != 1 {
		t.Errorf("%d events of a newer marker, want 1: %q", n, w.events)
	}
}

// lost has the operation gone, as a rewind has it.
func (w *world) lost() {
	w.t.Helper()
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) { o.Finalizers = nil })
	w.remove(w.op())
}

// A marker without its operation at a step before the recovery is moved on only if etcd
// says that it is the recovered one; the operation is made again either way, and says what
// the marker says.
//
// covers: C-16, C-29
func TestMarkerWithoutOperation(t *testing.T) {
	for _, c := range []struct {
		label    string
		at       v1alpha1.RestoreStep
		revision int64
		fault    error
		want     v1alpha1.RestoreStep
	}{
		{"rewound while it wiped, by the marker", v1alpha1.StepWiping, 2_000_000_000, nil, v1alpha1.StepRejoining},
		{"rewound while it recovered", v1alpha1.StepRecovering, 2_000_000_007, nil, v1alpha1.StepRejoining},
		{"not rewound: somebody removed the operation by force", v1alpha1.StepWiping, 1_999_999_999, nil, v1alpha1.StepWiping},
		{"etcd does not say", v1alpha1.StepRecovering, 2_000_000_007, errors.New("no answer"), v1alpha1.StepRecovering},
		{"further already", v1alpha1.StepReconciling, 2_000_000_007, nil, v1alpha1.StepReconciling},
	} {
		w := newWorld(t)
		w.look()
		w.edit(func(m *restore.Marker) { m.Step = c.at })
		w.lost()
		w.restart()
		w.revision, w.broken["etcd"] = c.revision, c.fault
		if err := w.resume.Pass(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.label, err)
		}
		if m := w.loaded(); m.Step != c.want || m.Failure != "" || m.Fence != 1 {
			t.Errorf("%s: the marker is at %s (fence %d, failure %q), want %s", c.label, m.Step, m.Fence, m.Failure, c.want)
		}
		w.look()
		if s := w.op().Status.EtcdRestore; s == nil || s.Step != c.want {
			t.Errorf("%s: the operation says %+v, want %s", c.label, s, c.want)
		}
	}
}

// Without its TalosCluster nobody can be asked for the proof.
//
// covers: C-29
func TestNobodyToProveIt(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.lost()
	w.remove(quay())
	if err := w.resume.Pass(t.Context()); err != nil || w.loaded().Step != v1alpha1.StepWiping {
		t.Errorf("%s, %v; want Wiping", w.loaded().Step, err)
	}
}

// Somebody else who wrote the marker meanwhile is not written over: the next pass looks
// again.
//
// covers: C-29
func TestMarkerMovedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.lost()
	w.broken["replace "+restore.MarkerName] = store.ErrChanged
	if err := w.resume.Pass(t.Context()); !errors.Is(err, store.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	w.broken["replace "+restore.MarkerName] = nil
	if err := w.resume.Pass(t.Context()); err != nil || w.loaded().Step != v1alpha1.StepRejoining {
		t.Errorf("%s, %v", w.loaded().Step, err)
	}
}

// An operation that was made again and whose status was not written gets it from the
// marker.
//
// covers: C-28
func TestOperationWithoutStatus(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Step = v1alpha1.StepRejoining })
	w.lost()
	w.restart()
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := w.op(); o.Status.EtcdRestore != nil || o.Status.Phase != "" {
		t.Fatalf("it has a status from the start: %+v", o.Status)
	}
	w.restart() // and the process dies before it is written
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning || o.Status.EtcdRestore.Step != v1alpha1.StepRejoining || o.Status.EtcdRestore.Target != "cp-1" {
		t.Errorf("phase %s, %+v", o.Status.Phase, o.Status.EtcdRestore)
	}
}
