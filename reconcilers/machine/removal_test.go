package machine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// goes is one look at the machine that goes, and what Removal says after it.
func (p *played) goes(t *testing.T, r *Reconciler, name string) *metav1.Condition {
	t.Helper()
	key := types.NamespacedName{Namespace: "default", Name: name}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.TalosMachine{}
	if err := client.IgnoreNotFound(p.api.Get(t.Context(), key, m)); err != nil {
		t.Fatal(err)
	}
	return meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRemoval)
}

// says holds a condition to a status, a reason, and a text in its message.
func says(t *testing.T, c *metav1.Condition, status metav1.ConditionStatus, reason, text string) {
	t.Helper()
	if c == nil || c.Status != status || c.Reason != reason || !strings.Contains(c.Message, text) {
		t.Errorf("Removal is %+v\nwant %s %s with %q", c, status, reason, text)
	}
}

// Evacuation, which is given the node's volume attachments; drain; member; event;
// finalizer. Each begins when the one before it has ended.
//
// covers: B-2, B-7, B-9
func TestOrder(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(3)...)
		for node, name := range map[string]string{"cp-3": "ours", "cp-1": "another"} {
			a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{NodeName: node}}
			if err := p.api.Create(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		m := immortal()
		r := p.reconciler(m)
		waits := "the volume to be moved"
		r.Evacuate = func(_ context.Context, machine *v1alpha1.TalosMachine, attached []storagev1.VolumeAttachment) (string, error) {
			if machine.Name != "cp-3" || len(attached) != 1 || attached[0].Name != "ours" {
				t.Errorf("asked about %s with %+v", machine.Name, attached)
			}
			return waits, nil
		}
		for range 3 {
			says(t, p.goes(t, r, "cp-3"), metav1.ConditionTrue, v1alpha1.ReasonEvacuating, "off Node cp-3 (1 volume is attached): waits for the volume to be moved.")
		}
		waits = ""
		says(t, p.goes(t, r, "cp-3"), metav1.ConditionTrue, v1alpha1.ReasonDraining, "Node cp-3 is being drained, pods left: 1 (default/app).")
		for range 10 {
			p.goes(t, r, "cp-3")
			synctest.Wait()
		}
		inOrder(t, m.calls, "drain cp-3", "drain cp-3", "update *v1.Lease quorate-quay", "patch status *v1alpha1.TalosCluster quay", "leave of cp-3",
			"patch status *v1alpha1.TalosCluster quay", "create *v1.Event credentials-of-cp-3", "patch *v1alpha1.TalosMachine cp-3")
	})
}

// inOrder holds calls to have these among them, in this order.
func inOrder(t *testing.T, calls []string, want ...string) {
	t.Helper()
	rest := calls
	for _, w := range want {
		w = strings.Replace(w, "update *v1.Lease", "create *v1.Lease", 1)
		i := slices.Index(rest, w)
		if i < 0 {
			t.Fatalf("%q is not in its place among\n%s", w, strings.Join(calls, "\n"))
		}
		rest = rest[i+1:]
	}
}

// A count that is raised after the member is gone holds nobody: there is nothing left
// to protect.
func TestWhatWasAllowedIsEnded(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(3)...)
		victim := immortal()
		r := p.reconciler(victim)
		for len(p.sent) == 0 {
			p.goes(t, r, "cp-3")
			synctest.Wait()
		}
		p.count(t, 3)
		p.lives("cp-3", immortal())
	})
}

func (p *played) count(t *testing.T, n int32) {
	t.Helper()
	c := &v1alpha1.TalosCluster{}
	key := types.NamespacedName{Namespace: "default", Name: "quay"}
	if err := p.api.Get(t.Context(), key, c); err != nil {
		t.Fatal(err)
	}
	c.Spec.ControlPlane.Count = n
	if err := p.api.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// The last report of etcd is not believed in either direction: etcd itself is asked.
func TestEtcdItselfIsAsked(t *testing.T) {
	engine := newEngine(t)
	for name, c := range map[string]struct{ reported, is bool }{"reported well, is ill": {true, false}, "reported ill, is well": {false, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlayed(t, engine, controlPlanes(3)...)
				p.report(t, c.reported)
				p.members[0].Healthy = c.is
				got := p.goes(t, p.reconciler(immortal()), "cp-3")
				if c.is {
					says(t, got, metav1.ConditionTrue, v1alpha1.ReasonDraining, "")
					return
				}
				says(t, got, metav1.ConditionFalse, v1alpha1.ReasonRemovalRefused, "2 of 3 etcd voters are healthy, and without it 1 of 2 would be. Heal or add voters first (unhealthy: cp-1)")
			})
		})
	}
}

// report writes the members into the cluster's status, the first of them as said.
func (p *played) report(t *testing.T, first bool) {
	t.Helper()
	c := &v1alpha1.TalosCluster{}
	if err := p.api.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "quay"}, c); err != nil {
		t.Fatal(err)
	}
	for i, m := range p.members {
		c.Status.Members = append(c.Status.Members, v1alpha1.EtcdMember{Name: m.Name, ID: v1alpha1.HexID(hexOf(m.ID)), Role: v1alpha1.RoleVoter, Started: true, Healthy: i > 0 || first})
	}
	if err := p.api.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}
