package machine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
)

// playedGate is asked by one process of the controller.
type playedGate struct {
	m   *mortal
	why string
	err error
}

const gateAsked = "gate default/quay"

func (g *playedGate) Wait(_ context.Context, namespace, cluster string) (why string, err error) {
	err = g.m.call("gate "+namespace+"/"+cluster, func() error { why = g.why; return g.err })
	return why, err
}

// destructive tells whether a call cannot be undone.
func destructive(call string) bool {
	return slices.ContainsFunc([]string{"drain ", "forfeit ", "leave of ", "removal by ", "create *v1.Event credentials-of-", "patch *v1alpha1.TalosMachine "},
		func(begin string) bool { return strings.HasPrefix(call, begin) })
}

// unowned is the way of a machine whose cluster is gone.
var unowned = struct {
	name  string
	world func(*testing.T, *cel.Engine) *played
	goes  string
	must  []string
}{"its cluster is gone", func(t *testing.T, e *cel.Engine) *played {
	p := newPlayed(t, e, controlPlanes(3)...)
	if err := p.api.Delete(t.Context(), &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay"}}); err != nil {
		t.Fatal(err)
	}
	return p
}, "cp-3", nil}

const restoreText = "A restore is on its way: TalosOperation default/rewind. See quorate operation list."

// While a restore is on its way, on no way out of a cluster anything is done that cannot
// be undone; the checks go on, and are told once. After it the machine goes.
func TestGateHoldsUp(t *testing.T) {
	engine := newEngine(t)
	for _, way := range append(slices.Clone(ways), unowned) {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := way.world(t, engine), immortal()
				r, gate := p.reconciler(m), &playedGate{m: m, why: restoreText}
				r.Gate = gate
				for range 5 {
					says(t, p.goes(t, r, way.goes), metav1.ConditionTrue, v1alpha1.ReasonRestoreInProgress, restoreText)
				}
				if i := slices.IndexFunc(m.calls, destructive); i >= 0 {
					t.Errorf("%s, though a restore is on its way", m.calls[i])
				}
				if told := len(r.Events.(*events.FakeRecorder).Events); told > 1 {
					t.Errorf("%d events, want one of the checks at most", told)
				}
				gate.why, gate.err = "", errors.New("list the backups: away")
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: way.goes}}); !errors.Is(err, gate.err) {
					t.Errorf("an API server that does not tell: %v", err)
				}
				p.lives(way.goes, immortal())
			})
		})
	}
}

// Each step that cannot be undone is taken after the gate was asked in the same cycle,
// and the ones on etcd after it was asked under the lock.
func TestGateIsAsked(t *testing.T) {
	engine := newEngine(t)
	for _, way := range append(slices.Clone(ways), unowned) {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := way.world(t, engine), immortal()
				r := p.reconciler(m)
				r.Gate = &playedGate{m: m}
				key := types.NamespacedName{Namespace: "default", Name: way.goes}
				for began := time.Now(); !p.gone(key) && time.Since(began) < patience; {
					p.goes(t, r, way.goes)
					synctest.Wait()
				}
				acts := 0
				for i, call := range m.calls {
					if !destructive(call) {
						continue
					}
					acts++
					asked := lastOf(m.calls[:i], gateAsked)
					if asked < lastOf(m.calls[:i], "get *v1alpha1.TalosMachine "+way.goes) {
						t.Errorf("%s, and the gate was not asked in that cycle", call)
					}
					etcd := strings.HasPrefix(call, "leave ") || strings.HasPrefix(call, "forfeit ") || strings.HasPrefix(call, "removal ")
					if etcd && asked < lastOf(m.calls[:i], "get *v1alpha1.TalosCluster quay") {
						t.Errorf("%s, and the gate was not asked under the lock", call)
					}
				}
				if acts < 2 {
					t.Errorf("%d steps that cannot be undone among\n%s", acts, strings.Join(m.calls, "\n"))
				}
			})
		})
	}
}

func lastOf(calls []string, what string) int {
	for i, call := range slices.Backward(calls) {
		if call == what {
			return i
		}
	}
	return -1
}

// A machine that a restore brought back while it was being deleted stays until a person
// releases it.
func TestHeldMachine(t *testing.T) {
	engine := newEngine(t)
	for _, way := range append(slices.Clone(ways), unowned) {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := way.world(t, engine), immortal()
				r := p.reconciler(m)
				p.annotate(t, way.goes, v1alpha1.AnnotationHeldByRestore, "7")
				for range 5 {
					says(t, p.goes(t, r, way.goes), metav1.ConditionFalse, v1alpha1.ReasonHeldByRestore,
						"Restore 7 brought this TalosMachine back with work that was under way when the snapshot was taken, and nothing of it that cannot be undone is done. "+
							"See that it is still wanted, then let it go on: quorate operation release talosmachine/"+way.goes+" -n default")
				}
				if i := slices.IndexFunc(m.calls, destructive); i >= 0 {
					t.Errorf("%s, though it is held", m.calls[i])
				}
				if told := len(r.Events.(*events.FakeRecorder).Events); told > 2 {
					t.Errorf("%d events, want one of the checks at most, and one that it is held", told)
				}
				p.annotate(t, way.goes, v1alpha1.AnnotationHeldByRestore, "")
				p.lives(way.goes, immortal())
			})
		})
	}
}

// annotate sets an annotation, or takes it away where the value is empty.
func (p *played) annotate(t *testing.T, machine, name, value string) {
	t.Helper()
	m := &v1alpha1.TalosMachine{}
	if err := p.api.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: machine}, m); err != nil {
		t.Fatal(err)
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[name] = value
	if value == "" {
		delete(m.Annotations, name)
	}
	if err := p.api.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}
