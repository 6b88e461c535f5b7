package restore

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// What the rewind brought back unfinished waits for a person.
func TestReturnedWorkIsHeld(t *testing.T) {
	old := order()
	old.Name, old.UID, old.CreationTimestamp = "older", "older-1", metav1.NewTime(taken.Add(-time.Hour))
	old.Status.Phase = v1alpha1.PhaseRunning
	going := plane(4)
	going.Finalizers, going.DeletionTimestamp = []string{v1alpha1.FinalizerMachine}, &metav1.Time{Time: taken}
	size := int32(3)
	etcd := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "main"}, Spec: v1alpha1.EtcdSpec{Replicas: &size}}
	w := newWorld(t, old, going, etcd)
	w.look()
	w.edit(func(m *restore.Marker) {
		m.Step, m.JobDone, m.Etcds = v1alpha1.StepRejoining, true, []restore.EtcdSize{{Namespace: "apps", Name: "main", Replicas: 5}}
	})
	if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(old)}); err != nil {
		t.Fatal(err)
	}
	w.look()
	w.echo()
	w.look()
	w.ended()
	held := fmt.Sprint(start.UnixMilli())
	for _, o := range []client.Object{&v1alpha1.TalosOperation{ObjectMeta: old.ObjectMeta}, &v1alpha1.TalosMachine{ObjectMeta: going.ObjectMeta}, &v1alpha1.Etcd{ObjectMeta: etcd.ObjectMeta}} {
		if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		if got := o.GetAnnotations()[v1alpha1.AnnotationHeldByRestore]; got != held {
			t.Errorf("%T %s is held by %q, want %q", o, o.GetName(), got, held)
		}
		if op, ok := o.(*v1alpha1.TalosOperation); ok && op.Status.Phase != v1alpha1.PhaseHeld {
			t.Errorf("the older operation is %s, want Held", op.Status.Phase)
		}
	}
	if w.told("TalosCluster", "Warning", v1alpha1.ReasonHeldByRestore) == "" {
		t.Error("nobody was told what is held")
	}
}
