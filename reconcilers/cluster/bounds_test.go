package cluster

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Every call has a deadline, and one to a node leaves time for the next node.
//
// covers: B-10
func TestEveryCallIsBounded(t *testing.T) {
	w := rejoin(t)
	w.settle()
	for name, left := range w.left {
		most := cycleTimeout
		switch what, _, _ := strings.Cut(name, " "); what {
		case "verify", "members":
			most = askTimeout
		case "remove":
			most = removeTimeout
		}
		if left > most || left <= 0 {
			t.Errorf("%s had %s, want at most %s", name, left, most)
		}
	}
	if w.left["remove cp-1"] == 0 || w.left["verify cp-1"] == 0 {
		t.Errorf("not all was called: %v", w.left)
	}
}

// A cycle whose time is up gives the lock back all the same.
func TestLockIsGivenBackLate(t *testing.T) {
	w := rejoin(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.on["remove cp-1"] = cancel
	if _, err := w.r.Reconcile(ctx, reconcile.Request{NamespacedName: quay}); err == nil {
		t.Error("a status was written without time")
	}
	if _, err := w.r.Lock(t.Context(), quay, "something else"); err != nil {
		t.Errorf("it was not given back: %v", err)
	}
}

// A cluster that is deleted, or made anew, while the lock is taken is left alone.
func TestClusterGoesUnderTheLock(t *testing.T) {
	cases := map[string]func(*world){
		"deleted": func(w *world) { w.deleteCluster() },
		"made anew": func(w *world) {
			c := w.cluster()
			w.deleteCluster()
			c.UID, c.ResourceVersion = "quay-2", ""
			if err := w.api.Create(w.t.Context(), c); err != nil {
				w.t.Fatal(err)
			}
			w.edit(func(anew *v1alpha1.TalosCluster) { anew.Status = c.Status })
		},
		"being deleted": func(w *world) {
			c := w.cluster()
			c.Finalizers = []string{"example.com/hold"}
			if err := w.api.Update(w.t.Context(), c); err != nil {
				w.t.Fatal(err)
			}
			w.deleteCluster()
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := rejoin(t)
			w.on["create *v1.lease"] = func() { change(w) }
			if result := w.reconcile(); result.RequeueAfter != soonest {
				t.Errorf("looked at again after %s", result.RequeueAfter)
			}
			w.reconcile()
			if len(w.removals) > 0 {
				t.Errorf("removals %x", w.removals)
			}
		})
	}
}

func (w *world) deleteCluster() {
	w.t.Helper()
	if err := w.api.Delete(w.t.Context(), w.cluster()); err != nil {
		w.t.Fatal(err)
	}
}
