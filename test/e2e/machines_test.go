package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
)

func talosCluster(ns string, count int32) *v1alpha1.TalosCluster {
	return &v1alpha1.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plant"},
		Spec: v1alpha1.TalosClusterSpec{
			Endpoint: "https://plant.example.com:6443", ControlPlane: v1alpha1.ControlPlaneSpec{Count: count},
			SecretsBundleRef: v1alpha1.LocalRef{Name: "plant-talos"},
		},
	}
}

func controlPlane(ns, name string, approved bool) *v1alpha1.TalosMachine {
	return &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Annotations: map[string]string{v1alpha1.AnnotationAllowDelete: "true"}},
		Spec:       v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "plant"}, Role: v1alpha1.MachineControlPlane, Endpoint: "192.0.2.7", Approved: approved},
	}
}

// withMember creates it and records a member as the controller.
func withMember(t *testing.T, machine *v1alpha1.TalosMachine, id v1alpha1.HexID) *v1alpha1.TalosMachine {
	t.Helper()
	must(t, as(t, world.Alice).Create(t.Context(), machine))
	machine.Status.EtcdMember = &v1alpha1.MachineEtcdMember{ID: id}
	must(t, as(t, world.Controller).Status().Update(t.Context(), machine))
	return machine
}

func unapprove(t *testing.T, actor string, machine *v1alpha1.TalosMachine) error {
	t.Helper()
	changed := machine.DeepCopy()
	changed.Spec.Approved = false
	return as(t, actor).Update(t.Context(), changed)
}

// TestDeletionInTwoSteps: a control plane is counted because it is approved, so
// the approval is no way round the count, and neither is one that is gone.
//
// covers: B-1
func TestDeletionInTwoSteps(t *testing.T) {
	ns := namespace(t)
	alice := as(t, world.Alice)
	must(t, alice.Create(t.Context(), talosCluster(ns, 1)))
	voter := withMember(t, controlPlane(ns, "cp-1", true), "a1")
	stranger := controlPlane(ns, "cp-2", false)
	must(t, alice.Create(t.Context(), stranger))

	refusedBy(t, unapprove(t, world.Alice, voter), []string{"machine-approval-kept"}, "delete this TalosMachine, after a replacement is approved")
	held := []string{"machine-delete-below-count", "machine-delete-last-control-plane"}
	refusedBy(t, alice.Delete(t.Context(), voter), held, "0 approved control planes would remain")

	must(t, unapprove(t, world.Controller, voter))
	refusedBy(t, alice.Delete(t.Context(), voter), held, "Approve a replacement control plane first")
	refusedBy(t, alice.Delete(t.Context(), stranger), nil)
}

// TestMachineFinalizerIsHeld: from the deletion on, before a controller has
// written anything; the way out that the refusal names is one.
func TestMachineFinalizerIsHeld(t *testing.T) {
	ns := namespace(t)
	alice := as(t, world.Alice)
	machine := controlPlane(ns, "cp-1", true)
	machine.Finalizers = []string{v1alpha1.FinalizerMachine}
	withMember(t, machine, "a1")
	must(t, alice.Delete(t.Context(), machine))

	tearOff := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`))
	err := alice.Patch(t.Context(), machine.DeepCopy(), tearOff)
	refusedBy(t, err, []string{"machine-finalizer-held"}, "its removal is about to begin", "--as="+world.ControllerUser)
	refusedBy(t, impersonate(t, world.ControllerUser).Patch(t.Context(), machine.DeepCopy(), tearOff), nil)
}
