package backup

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A snapshot that an operation names stays until that is completed; a marker that came
// while a snapshot was taken has all stay.
func TestRemovesNothingThatARestoreNeeds(t *testing.T) {
	w := full(t)
	op := &v1alpha1.TalosOperation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rewind"},
		Spec: v1alpha1.TalosOperationSpec{Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: "quay"}, EtcdRestore: &v1alpha1.EtcdRestoreSpec{Snapshot: noon}}}
	if err := w.api.Create(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	w.stored = func(name string) {
		if name == metaOf("etcd-20300102T140100Z.snapshot.age") {
			w.put(markerName, "{}")
		}
	}
	w.reconcile()
	if got := w.files(); !slices.Contains(got, one) {
		t.Fatalf("removed beside a marker: %q", got)
	}
	w.unstore(markerName)
	w.stored = nil
	w.reconcile()
	w.lists("etcd-20300102T140100Z.snapshot.age", noon)
	op.Status.Phase = v1alpha1.PhaseCompleted
	if err := w.api.Update(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	w.lists("etcd-20300102T140100Z.snapshot.age")
}
