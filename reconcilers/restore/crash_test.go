package restore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// looks is how far a restore may go before it is given up.
const looks = 60

// The process dies before or after each of its calls, from the order to the end, and the
// next one goes on. The restore always ends, and the marker never goes before the state
// that needs it: a marker that is gone means that nothing is wiped any more.
func TestCrashMatrix(t *testing.T) {
	points := 0
	for at := 1; ; at++ {
		reached := false
		for _, after := range []bool{false, true} {
			w := newWorld(t)
			w.killAt, w.killAfter = at, after
			name := w.restoreThrough()
			reached = reached || name != ""
			if name == "" {
				continue
			}
			points++
			w.ended()
			if t.Failed() {
				t.Fatalf("died %s call %d (%s)", map[bool]string{true: "after", false: "before"}[after], at, name)
			}
		}
		if !reached {
			break
		}
	}
	t.Logf("%d deaths", points)
	if points < 30 {
		t.Errorf("%d deaths: the world does not see the calls any more", points)
	}
}

// restoreThrough carries a restore out, with a death on the way, and names the call at
// which it was; empty if it was not reached.
func (w *world) restoreThrough() (name string) {
	w.t.Helper()
	job := 0
	for range looks {
		_, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: rewind})
		if w.dead {
			name = w.calls[len(w.calls)-1]
			w.jobs.known, w.jobs.state = false, JobState{}
			w.restart()
			if err := w.resume.Pass(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		if err != nil {
			w.t.Fatalf("reconcile: %v", err)
		}
		o := &v1alpha1.TalosOperation{}
		if err := w.api.Get(w.t.Context(), rewind, o); err != nil {
			w.t.Fatal(err)
		}
		if o.Status.Phase == v1alpha1.PhaseCompleted && len(o.Finalizers) == 0 {
			return name
		}
		m := w.loaded()
		switch {
		case m == nil:
		case m.Step == v1alpha1.StepReconciling:
			w.echo()
		case w.jobs.state.Running && !m.JobDone:
			if job++; job == 2 { // it has done its work
				w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
			}
		}
	}
	w.t.Fatalf("no end after %d looks; status %+v", looks, w.op().Status)
	return name
}

// Without the marker that was asked for there is no wipe: a death in the middle of
// preparing leaves an operation that prepares anew.
func TestDiesWhilePreparing(t *testing.T) {
	w := newWorld(t)
	w.prep = func(Order) (*restore.Marker, error) { w.dead = true; return nil, errDied }
	if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: rewind}); !errors.Is(err, errDied) {
		t.Fatalf("got %v", err)
	}
	w.restart()
	w.prep = func(o Order) (*restore.Marker, error) { return w.marker(o.Operation), nil }
	w.look()
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning || w.jobs.starts != 1 {
		t.Errorf("phase %s (%s), %d jobs", o.Status.Phase, o.Status.FailureReason, w.jobs.starts)
	}
}

// Another restore's marker refuses a younger operation, and leaves an older one to be held.
//
// covers: C-9
func TestOtherMarker(t *testing.T) {
	for _, c := range []struct {
		label string
		spoil func(m *restore.Marker)
		want  string
	}{
		{"a younger order", func(m *restore.Marker) { m.Operation.Name = "other"; m.StartedAt = taken }, ""},
		{"an older order", func(m *restore.Marker) { m.Operation.Name = "other" }, "Restore other is on its way. This operation is older, and is held when that one is over."},
	} {
		w := newWorld(t)
		w.marker(order())
		w.edit(c.spoil)
		var got Order
		w.prep = func(o Order) (*restore.Marker, error) { got = o; return nil, errors.New("there is another restore") }
		w.look()
		o := w.op()
		if c.want != "" && o.Status.EtcdRestore.Message != c.want {
			t.Errorf("%s: %q, want %q", c.label, o.Status.EtcdRestore.Message, c.want)
		}
		if c.want == "" && (got.Marker == nil || o.Status.FailureReason != unchanged+"There is another restore.") {
			t.Errorf("%s: prepared with marker %v; %q", c.label, got.Marker, o.Status.FailureReason)
		}
	}
}

// A restore of the cluster that goes by another backup is one all the same.
//
// covers: C-9
func TestMarkerBesideAnotherBackup(t *testing.T) {
	weekly := nightly()
	weekly.Name = "weekly"
	w := newWorld(t, weekly)
	w.marker(order())
	w.edit(func(m *restore.Marker) { m.Operation.Name = "other" })
	empty, err := store.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	there := w.at
	w.r.Stores = func(_ context.Context, b *v1alpha1.TalosEtcdBackup) (store.Store, error) {
		if b.Name == "weekly" {
			return there, nil
		}
		return empty, nil
	}
	w.look()
	if got, want := w.op().Status.EtcdRestore.Message, "Restore other is on its way. This operation is older, and is held when that one is over."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A restore that was ordered by command line gets an operation that finishes it.
//
// covers: C-35
func TestOrderedByCommandLine(t *testing.T) {
	w := newWorld(t)
	w.remove(order())
	w.marker(order())
	w.edit(func(m *restore.Marker) {
		m.Operation, m.Step, m.JobDone = restore.Operation{Requester: "the command line"}, v1alpha1.StepRejoining, true
	})
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("etcd-restore-%d", start.UnixMilli())
	key := client.ObjectKey{Namespace: "default", Name: name}
	for range 2 {
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		w.echo()
	}
	o := &v1alpha1.TalosOperation{}
	if err := w.api.Get(t.Context(), key, o); err != nil {
		t.Fatal(err)
	}
	if o.Status.Phase != v1alpha1.PhaseCompleted || o.Spec.EtcdRestore.Snapshot != shot || o.Spec.EtcdRestore.Confirm != "quay" || w.loaded() != nil {
		t.Errorf("phase %s, spec %+v, marker %v", o.Status.Phase, o.Spec.EtcdRestore, w.loaded())
	}
}
