package cluster

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
)

// No cluster ID is recorded while nobody is approved.
func TestNobodyIsApproved(t *testing.T) {
	w := newWorld(t)
	for n := range 3 {
		m := machine(n + 1)
		m.Spec.Approved = false
		w.put(m)
	}
	w.reconcile()
	w.says("Quorate", "Unknown ControlPlaneCountDiffers: "+controlplane.ErrNoControlPlane.Error()+".")
	w.says("Ready", "False ControlPlaneCountDiffers: Control planes approved: 0, asked for by spec.controlPlane.count: 3. Approve another TalosMachine, or lower the count (to 1, 3 or 5) if you mean to shrink the cluster.")
	if id := w.cluster().Status.ClusterID; id != "" {
		t.Errorf("recorded %s", id)
	}
}

// A machine that is being deleted counts no more, and its member is explained still.
func TestMachineIsBeingDeleted(t *testing.T) {
	w := newWorld(t)
	m := machine(3)
	m.Finalizers = []string{v1alpha1.FinalizerMachine}
	w.put(m)
	if err := w.api.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	w.after(2 * DefaultGrace)
	w.reconcile()
	w.says("Ready", "False ControlPlaneCountDiffers: Control planes approved: 2, asked for by spec.controlPlane.count: 3. Approve another TalosMachine, or lower the count (to 1, 3 or 5) if you mean to shrink the cluster.")
	w.members = w.members[:2]
	w.reconcile()
	w.says("Ready", "False ControlPlaneCountDiffers: Control planes approved: 2, asked for by spec.controlPlane.count: 3. Approve another TalosMachine, or lower the count (to 1, 3 or 5) if you mean to shrink the cluster.")
}

func TestMachineHasNoMember(t *testing.T) {
	w := newWorld(t)
	w.members = w.members[:2]
	w.reconcile()
	w.says("Ready", "False MemberUnhealthy: TalosMachine cp-3 has no etcd member.")
}
