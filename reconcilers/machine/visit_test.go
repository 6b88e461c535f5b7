package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// visited is a machine after one look at it.
func (p *played) visited(t *testing.T, name string) *v1alpha1.TalosMachine {
	t.Helper()
	key := types.NamespacedName{Namespace: "default", Name: name}
	if _, err := p.reconciler(immortal()).Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.TalosMachine{}
	if err := p.api.Get(t.Context(), key, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// fresh is a world of one control plane that nobody has looked at yet.
func fresh(t *testing.T, change func(*v1alpha1.TalosMachine)) *played {
	t.Helper()
	m := controlPlanes(2)[0].(*v1alpha1.TalosMachine)
	change(m)
	p := newPlayed(t, nil, m)
	p.nodes(t, nil)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := p.api.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return p
}

// A machine that is well has its address, Node and member recorded, and is Ready; the
// request to look at it is echoed.
func TestVisit(t *testing.T) {
	p := fresh(t, func(m *v1alpha1.TalosMachine) {
		m.Finalizers, m.Annotations = []string{"example.com/other"}, map[string]string{v1alpha1.AnnotationReconcileRequested: "now"}
	})
	m := p.visited(t, "cp-1")
	if e := m.Status.EtcdMember; e == nil || e.ID != "a1" || len(e.PeerURLs) != 1 || m.Status.Address != "192.0.2.1" || m.Status.NodeName != "cp-1" {
		t.Errorf("recorded: %+v", m.Status)
	}
	if m.Status.ObservedReconcileRequest != "now" || !slices.Contains(m.Finalizers, v1alpha1.FinalizerMachine) {
		t.Errorf("observed %q, finalizers %v", m.Status.ObservedReconcileRequest, m.Finalizers)
	}
	if !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) {
		t.Errorf("conditions %+v", m.Status.Conditions)
	}
}

// Each thing that is not as it should be is told by a reason of its own, and takes
// nothing away that was recorded.
func TestVisitNotReady(t *testing.T) {
	nothing := func(*v1alpha1.TalosMachine) {}
	for name, c := range map[string]struct {
		machine func(*v1alpha1.TalosMachine)
		world   func(*testing.T, *played)
		reason  string
		text    string
	}{
		"not approved": {func(m *v1alpha1.TalosMachine) { m.Spec.Approved = false }, nil, v1alpha1.ReasonNotApproved, "set spec.approved to true"},
		"no cluster":   {func(m *v1alpha1.TalosMachine) { m.Spec.ClusterRef.Name = "pier" }, nil, v1alpha1.ReasonClusterNotFound, "There is no TalosCluster pier"},
		"silent":       {nothing, func(_ *testing.T, p *played) { p.silent["cp-1"] = true }, v1alpha1.ReasonMachineUnreachable, "silent for 5s"},
		"another cluster": {nothing, func(_ *testing.T, p *played) {
			p.foreign["cp-1"] = errors.Join(talos.ErrOtherCluster, errors.New("it is b, and the bundle's is a"))
		}, v1alpha1.ReasonOtherCluster, "it is b, and the bundle's is a"},
		"etcd is ill": {nothing, func(_ *testing.T, p *played) { p.members = nil }, v1alpha1.ReasonMemberUnhealthy, "Its etcd is not healthy, or has not joined yet"},
		"a learner":   {nothing, func(_ *testing.T, p *played) { p.members[0].Learner = true }, v1alpha1.ReasonMemberUnhealthy, "is a learner still"},
		"no Node":     {nothing, func(t *testing.T, p *played) { p.nodes(t, nil) }, v1alpha1.ReasonNodeNotReady, "There is no Node cp-1"},
		"Node is ill": {nothing, func(t *testing.T, p *played) { p.nodes(t, map[string]string{"cp-1": ""}) }, v1alpha1.ReasonNodeNotReady, "Node cp-1 is not Ready."},
	} {
		t.Run(name, func(t *testing.T) {
			p := fresh(t, c.machine)
			if c.world != nil {
				c.world(t, p)
			}
			m := p.visited(t, "cp-1")
			ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != c.reason || !strings.Contains(ready.Message, c.text) {
				t.Errorf("Ready is %+v, want %s with %q", ready, c.reason, c.text)
			}
			if m.Status.EtcdMember == nil || m.Status.EtcdMember.ID != "a1" {
				t.Errorf("the record of the member is %+v", m.Status.EtcdMember)
			}
		})
	}
}

// One that nobody let in has nothing to leave, so that nothing holds it.
func TestNoFinalizerBeforeApproval(t *testing.T) {
	p := fresh(t, func(m *v1alpha1.TalosMachine) { m.Finalizers, m.Spec.Approved = nil, false })
	if m := p.visited(t, "cp-1"); len(m.Finalizers) > 0 {
		t.Errorf("finalizers %v", m.Finalizers)
	}
}
