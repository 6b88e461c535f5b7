package restore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

const unchanged = "Nothing was changed. When what is named here is mended, delete this operation and order the restore again. "

// Whatever preparing fails with has changed nothing, and the pause says so.
//
// covers: C-8
func TestPreparingFails(t *testing.T) {
	w := newWorld(t)
	w.prep = func(Order) (*restore.Marker, error) { return nil, errors.New("the snapshot is cut off") }
	w.look()
	o := w.op()
	want := unchanged + "The snapshot is cut off."
	if o.Status.Phase != v1alpha1.PhasePaused || o.Status.FailureReason != want || o.Status.EtcdRestore.Step != "" {
		t.Errorf("phase %s at %q: %q; want Paused: %q", o.Status.Phase, o.Status.EtcdRestore.Step, o.Status.FailureReason, want)
	}
	if w.jobs.starts > 0 {
		t.Error("a job was started")
	}
	calls := len(w.calls)
	w.look()
	if len(w.calls) != calls {
		t.Errorf("it was tried again: %q", w.calls[calls:])
	}
}

// covers: C-8
func TestNothingToPrepareWith(t *testing.T) {
	for _, c := range []struct {
		label string
		spoil func(w *world)
		want  string
	}{
		{"no cluster", func(w *world) { w.remove(quay()) }, "There is no TalosCluster default/quay."},
		{"no backup", func(w *world) { w.remove(nightly()) }, "There is no TalosEtcdBackup default/nightly."},
		{"a store with wrong settings", func(w *world) { w.broken["store"] = fmt.Errorf("%w: there is no Secret nightly-s3", store.ErrSettings) },
			"The object store of backup nightly cannot be used: settings of the object store: there is no Secret nightly-s3."},
	} {
		w := newWorld(t)
		c.spoil(w)
		w.look()
		o := w.op()
		if want := unchanged + c.want; o.Status.Phase != v1alpha1.PhasePaused || o.Status.FailureReason != want {
			t.Errorf("%s: %s: %q, want %q", c.label, o.Status.Phase, o.Status.FailureReason, want)
		}
	}
}
