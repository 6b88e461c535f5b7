package backup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// The process dies before or after each of its calls: what is listed is whole whenever
// one looks, the next process takes what is due, and after a day nothing is left over.
func TestDeaths(t *testing.T) {
	calls := play(t, 0, false)
	if len(calls) < 15 {
		t.Fatalf("only %d calls: %q", len(calls), calls)
	}
	for i, what := range calls {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("at call %d, %s, after %t", i+1, what, after), func(t *testing.T) { play(t, i+1, after) })
		}
	}
}

// play has three snapshots, keeps two, and takes the fourth, in which it dies.
func play(t *testing.T, killAt int, after bool) []string {
	w := newWorld(t, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.Retention = 2 })
	for hour := 12; hour < 14; hour++ {
		w.to(hour, 0)
		w.aged()
		w.reconcile()
	}
	w.restart()
	w.killAt, w.killAfter = killAt, after
	w.to(14, 0)
	w.aged()
	_, _ = w.try() // it may die
	calls := w.calls
	w.whole()
	w.restart()
	w.to(14, 1)
	w.aged()
	w.reconcile()
	w.whole()
	if newest := w.listed()[0]; newest < "etcd-20300102T140000Z" {
		t.Errorf("the newest is %s", newest)
	}
	w.clock.SetTime(w.clock.Now().Add(48 * time.Hour))
	w.aged()
	w.reconcile()
	w.whole()
	listed := w.listed()
	slices.Reverse(listed)
	var want []string
	for _, name := range listed {
		want = append(want, name, metaOf(name))
	}
	w.stores(want...)
	if len(listed) != 2 {
		t.Errorf("kept are %q, want two", listed)
	}
	return calls
}

// whole checks that every snapshot that has something beside it can be read.
func (w *world) whole() {
	w.t.Helper()
	seen, err := Read(w.t.Context(), w.disk, "default", "quay", "")
	if err != nil {
		w.t.Fatal(err)
	}
	bundle, _ := bundleYAML()
	key, err := snapshot.DeriveKey(bundle)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range seen.Whole {
		w.verifies(key, e)
	}
	if len(seen.Whole) < 2 {
		w.t.Errorf("only %d snapshots are whole", len(seen.Whole))
	}
}

func (w *world) verifies(key *snapshot.Key, e Entry) {
	w.t.Helper()
	r, _, err := w.disk.Get(w.t.Context(), e.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	if sealed, err := snapshot.Verify(r, key); err != nil || sealed.Sum != e.Sum || e.Verified == nil {
		w.t.Errorf("%s: %+v, %v, verified %v", e.Name, sealed, err, e.Verified)
	}
}

var _ store.Store = (*mortal)(nil)
