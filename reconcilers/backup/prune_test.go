package backup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/store"
)

// full has three snapshots in the store, of which one is kept, and asks for another.
func full(t *testing.T) *world {
	w := newWorld(t, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.Retention = 3 })
	for hour := 12; hour < 15; hour++ {
		w.to(hour, 0)
		w.reconcile()
	}
	b := w.backup()
	b.Annotations = map[string]string{v1alpha1.AnnotationBackupRequested: "now"}
	b.Spec.Retention = 1
	if err := w.api.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w.took()
	w.to(14, 1)
	return w
}

// stays has the controller look for ten minutes, and checks that no snapshot is taken.
func (w *world) stays() {
	w.t.Helper()
	for n := range 10 {
		w.to(14, 2+n)
		_, _ = w.try()
	}
	if want := []string{"etcd-20300102T140100Z.snapshot.age", "etcd-20300102T140000Z.snapshot.age", one, noon}; !slices.Equal(w.listed(), want) {
		w.t.Errorf("listed are %q, want %q", w.listed(), want)
	}
}

// What cannot be removed is told, tried again with growing pauses, and has no snapshot
// taken again.
//
// covers: C-10
func TestWhatCannotBeRemoved(t *testing.T) {
	for _, c := range []struct {
		name         string
		err          error
		reason, want string
		kind         string
	}{
		{"refused", fmt.Errorf("%w: AccessDenied", store.ErrDenied), v1alpha1.ReasonStoreUnusable,
			"The object store refuses the credentials: remove old snapshots: denied: AccessDenied denied: AccessDenied denied: AccessDenied. Correct them in the Secret of spec.objectStore.credentialsRef, or what they are allowed.", "Stalled"},
		{"locked", errors.New("locked"), v1alpha1.ReasonStoreUnusable,
			"Snapshots are taken, and old ones could not be removed: remove old snapshots: locked locked locked. It is tried again.", "Reconciling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := full(t)
			w.broken["remove"] = c.err
			if again := w.reconcile().RequeueAfter; again != firstPause {
				t.Errorf("again after %v", again)
			}
			if got := w.backup().Status.ObservedBackupRequest; got != "now" {
				t.Errorf("echoed is %q", got)
			}
			w.calls = nil
			w.stays()
			// After 1, 2 and 4 minutes.
			if tries := slices.DeleteFunc(slices.Clone(w.calls), func(s string) bool { return s != "remove" }); len(tries) != 3*3 {
				t.Errorf("%d were tried to remove, want %d", len(tries), 3*3)
			}
			w.is("Ready", metav1.ConditionFalse, c.reason, c.want)
			w.is(c.kind, metav1.ConditionTrue, c.reason, c.want)
			if got := w.took(); len(got) != 1 || !strings.HasSuffix(got[0], c.want) {
				t.Errorf("events: %q", got)
			}
			w.to(15, 0)
			w.reconcile()
			if got := w.listed(); len(got) != 5 || got[0] != "etcd-20300102T150000Z.snapshot.age" {
				t.Errorf("by the schedule: %q", got)
			}
			clear(w.broken)
			w.to(15, 30)
			w.reconcile()
			w.lists("etcd-20300102T150000Z.snapshot.age")
			w.is(c.kind, "", "", "")
		})
	}
}

// A credential that may not list uploads has its snapshots taken and removed all the same.
func TestWhatCannotBeSwept(t *testing.T) {
	w := full(t)
	w.broken["sweep"] = fmt.Errorf("sweep: %w: AccessDenied", store.ErrDenied)
	w.reconcile()
	w.lists("etcd-20300102T140100Z.snapshot.age")
	if got := w.backup().Status.ObservedBackupRequest; got != "now" {
		t.Errorf("echoed is %q", got)
	}
	w.is("Stalled", "", "", "")
}

// A snapshot that is stored is said to be so at once, whatever fails afterwards, and one
// that could not be said has none taken again.
func TestTakenIsSaidAtOnce(t *testing.T) {
	for _, what := range []string{"list", "patch status"} {
		t.Run(what, func(t *testing.T) {
			w := full(t)
			w.stored = func(name string) {
				if name == metaOf("etcd-20300102T140100Z.snapshot.age") {
					w.broken[what] = errors.New("broken")
				}
			}
			_, _ = w.try()
			if w.broken[what] == nil {
				t.Fatal("no snapshot was taken")
			}
			for n := range 10 {
				w.clock.SetTime(w.clock.Now().Add(time.Duration(n+1) * time.Second))
				_, _ = w.try()
			}
			clear(w.broken)
			w.stored = nil
			w.reconcile()
			w.lists("etcd-20300102T140100Z.snapshot.age")
			if got := w.backup().Status.ObservedBackupRequest; got != "now" {
				t.Errorf("echoed is %q", got)
			}
		})
	}
}
