package cluster

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A machine wakes its own cluster, approved or not.
func TestClusterOf(t *testing.T) {
	got := clusterOf(t.Context(), machine(1))
	if len(got) != 1 || got[0] != (reconcile.Request{NamespacedName: quay}) {
		t.Errorf("got %v", got)
	}
	if got := clusterOf(t.Context(), &v1alpha1.TalosCluster{}); got != nil {
		t.Errorf("got %v", got)
	}
}
