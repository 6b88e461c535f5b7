package machine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
)

// beginning is when time begins where tests run in time of their own.
var beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ways are the ways out of a cluster, each with the calls that must be among its own.
var ways = []struct {
	name  string
	world func(*testing.T, *cel.Engine) *played
	goes  string // the machine that does
	must  []string
}{
	{"the machine leaves", func(t *testing.T, e *cel.Engine) *played { return newPlayed(t, e, controlPlanes(3)...) }, "cp-3", []string{"leave of cp-3"}},
	{"the leader leaves", func(t *testing.T, e *cel.Engine) *played {
		p := newPlayed(t, e, controlPlanes(3)...)
		p.members[0].Leader, p.members[2].Leader = false, true
		return p
	}, "cp-3", []string{"forfeit leadership of cp-3", "leave of cp-3"}},
	{"the machine is silent", func(t *testing.T, e *cel.Engine) *played {
		p := newPlayed(t, e, controlPlanes(4)...)
		p.silent["cp-4"], p.members[3].Healthy = true, false
		return p
	}, "cp-4", []string{"removal by cp-1"}},
	{"the leave fails after it has happened", func(t *testing.T, e *cel.Engine) *played {
		p := newPlayed(t, e, controlPlanes(3)...)
		p.leaveFails = true
		return p
	}, "cp-3", []string{"leave of cp-3"}},
	{"a worker", func(t *testing.T, e *cel.Engine) *played {
		return newPlayed(t, e, append(controlPlanes(1)[:0:0], deleted(machineOf("w-1", v1alpha1.MachineWorker, 9)))...)
	}, "w-1", nil},
}

// The controller is killed before and after each of its calls, on each way out of a
// cluster; whoever follows ends it, and nobody asks for the removal of a member that is
// gone.
//
// covers: B-7, B-8, B-9
func TestKilledAtEachCall(t *testing.T) {
	engine := newEngine(t)
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			whole := immortal()
			synctest.Test(t, func(t *testing.T) {
				w := way.world(t, engine)
				w.lives(way.goes, whole)
				w.ended(way.goes, "killed at no call")
			})
			reached := map[string]int{}
			for _, d := range deaths(whole.calls) {
				if t.Failed() {
					return
				}
				synctest.Test(t, func(t *testing.T) {
					w := way.world(t, engine)
					victim := &mortal{at: d}
					w.lives(way.goes, victim)
					if victim.died() {
						reached[d.what]++
						w.lives(way.goes, immortal())
					}
					w.ended(way.goes, d.String())
				})
			}
			t.Logf("%d calls of %d kinds, a death before and after each", len(whole.calls), len(reached))
			for _, want := range append([]string{"create *v1.Event credentials-of-" + way.goes, "patch *v1alpha1.TalosMachine " + way.goes}, way.must...) {
				if reached[want] < 2 {
					t.Errorf("%d deaths at %q, want one before and one after it", reached[want], want)
				}
			}
		})
	}
}

// patience is how long a removal may take in the time of the test.
const patience = 15 * time.Minute

// lives lets one process reconcile the machine until that is gone or the process dead.
func (p *played) lives(name string, m *mortal) {
	p.t.Helper()
	r, key := p.reconciler(m), types.NamespacedName{Namespace: "default", Name: name}
	for began := time.Now(); time.Since(began) < patience; {
		result, err := r.Reconcile(p.t.Context(), reconcile.Request{NamespacedName: key})
		if m.died() || p.gone(key) {
			return
		}
		if err != nil {
			p.t.Fatalf("reconcile: %v", err)
		}
		time.Sleep(max(result.RequeueAfter, soonest)) // of the bubble's time
	}
	machine := &v1alpha1.TalosMachine{}
	_ = p.api.Get(p.t.Context(), key, machine) // for the report
	p.t.Fatalf("%s is there after %s: %+v", name, patience, machine.Status.Conditions)
}

func (p *played) gone(key types.NamespacedName) bool {
	return apierrors.IsNotFound(p.api.Get(p.t.Context(), key, &v1alpha1.TalosMachine{}))
}

// ended checks what must be so at the end of every removal.
func (p *played) ended(name, after string) {
	p.t.Helper()
	synctest.Wait()
	for _, m := range p.members {
		if m.Name == name {
			p.t.Errorf("%s: %s is listed", after, name)
		}
	}
	if slices.ContainsFunc(p.sent, func(s string) bool { return !strings.HasSuffix(s, "listed=true") }) {
		p.t.Errorf("%s: removals that were asked for: %v", after, p.sent)
	}
	var told eventsv1.EventList
	if err := p.api.List(p.t.Context(), &told); err != nil || len(told.Items) != 1 || told.Items[0].Reason != v1alpha1.EventNodeStillHasClusterCredentials {
		p.t.Errorf("%s: events %+v (%v), want the one of the credentials", after, told.Items, err)
	}
	cluster := &v1alpha1.TalosCluster{}
	if err := p.api.Get(p.t.Context(), client.ObjectKey{Namespace: "default", Name: "quay"}, cluster); err != nil {
		p.t.Fatal(err)
	}
	for _, e := range cluster.Status.RemovedMembers {
		if e.State != v1alpha1.RemovalConfirmed || e.Name != name || len(e.PeerURLs) != 1 {
			p.t.Errorf("%s: ledger %+v", after, e)
		}
	}
	if want := len(p.sent); len(cluster.Status.RemovedMembers) != want {
		p.t.Errorf("%s: %d entries in the ledger, %d removals", after, len(cluster.Status.RemovedMembers), want)
	}
}
