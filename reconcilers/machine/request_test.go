package machine

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// observed is the request that a machine has echoed.
func (p *played) observed(t *testing.T, name string) string {
	t.Helper()
	m := &v1alpha1.TalosMachine{}
	if err := p.api.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: name}, m); err != nil {
		t.Fatal(err)
	}
	return m.Status.ObservedReconcileRequest
}

// A request to look is echoed with the last write of a reconcile: of a machine that
// stays, of one that goes, and of one that does not answer.
//
// covers: C-5
func TestRequestIsEchoed(t *testing.T) {
	p := newPlayed(t, newEngine(t), controlPlanes(3)...)
	p.silent["cp-2"], p.members[1].Healthy = true, false
	for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
		p.annotate(t, name, v1alpha1.AnnotationReconcileRequested, "4711")
		p.goes(t, p.reconciler(immortal()), name)
		if got := p.observed(t, name); got != "4711" {
			t.Errorf("%s echoes %q", name, got)
		}
	}
}

// What cuts a reconcile short echoes nothing, whether it dies or fails before its last
// write, or the request came after the machine was read.
//
// covers: C-5
func TestNoEchoOfHalfAReconcile(t *testing.T) {
	p := fresh(t, func(m *v1alpha1.TalosMachine) {
		m.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequested: "4711"}
	})
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "cp-1"}}
	for _, what := range []string{"get *v1alpha1.TalosCluster quay", "patch status *v1alpha1.TalosMachine cp-1"} {
		if _, err := p.reconciler(&mortal{at: death{what, 1, false}}).Reconcile(t.Context(), request); !errors.Is(err, errDead) {
			t.Fatalf("killed at %s: %v", what, err)
		}
		if got := p.observed(t, "cp-1"); got != "" {
			t.Errorf("killed at %s, it echoes %q", what, got)
		}
	}
	r := p.reconciler(immortal())
	r.Plane = &late{Plane: r.Plane, at: func() { p.annotate(t, "cp-1", v1alpha1.AnnotationReconcileRequested, "4712") }}
	for _, want := range []string{"", "4712"} { // a conflict, then a whole one
		if _, err := r.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if got := p.observed(t, "cp-1"); got != want {
			t.Errorf("it echoes %q, want %q", got, want)
		}
	}
}

// late is a control plane whose secrets are read while somebody writes, the first time.
type late struct {
	Plane
	at func()
}

func (l *late) Bundle(ctx context.Context, c *v1alpha1.TalosCluster) (*talos.Bundle, error) {
	if l.at != nil {
		l.at()
		l.at = nil
	}
	return l.Plane.Bundle(ctx, c)
}
