package restored

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	sim "github.com/quorate/quorate/test/talos"
)

// bundleSecret holds the secrets bundle.
const bundleSecret = "factory-talos-secrets"

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: Namespace, Name: name}
}

// declare makes what a person makes: the Secret, the TalosCluster and a TalosMachine for
// each machine. An API server hears of the gate's certificate a moment after the manager
// has served it, and refuses before that.
func (w *World) declare(ctx context.Context) error {
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: named(bundleSecret), Data: map[string][]byte{"bundle": w.Talos.Bundle()}},
		&v1alpha1.TalosCluster{ObjectMeta: named(Cluster), Spec: v1alpha1.TalosClusterSpec{
			Endpoint:         "https://k8s.factory.example.com:6443",
			ControlPlane:     v1alpha1.ControlPlaneSpec{Count: int32(len(w.Talos.ControlPlanes()))},
			SecretsBundleRef: v1alpha1.LocalRef{Name: bundleSecret},
		}},
	}
	for _, n := range w.Talos.Nodes() {
		objects = append(objects, machineOf(n))
	}
	for _, o := range objects {
		err := cluster.Until(ctx, "admission to let "+o.GetName()+" in", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			return client.IgnoreAlreadyExists(w.Client.Create(ctx, o))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func machineOf(n *sim.Node) *v1alpha1.TalosMachine {
	role := v1alpha1.MachineControlPlane
	if n.Worker() {
		role = v1alpha1.MachineWorker
	}
	return &v1alpha1.TalosMachine{ObjectMeta: named(n.Name), Spec: v1alpha1.TalosMachineSpec{
		ClusterRef: v1alpha1.LocalRef{Name: Cluster}, Role: role, Endpoint: n.Endpoint(), Approved: true,
	}}
}

// Ready waits until the TalosCluster and each TalosMachine say that they are.
func (w *World) Ready(ctx context.Context) error {
	return cluster.Until(ctx, "the cluster and its machines to be ready", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		c := &v1alpha1.TalosCluster{}
		if err := w.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Cluster}, c); err != nil {
			return err
		}
		if err := saysReady("TalosCluster "+Cluster, c.Status.Conditions); err != nil {
			return err
		}
		var machines v1alpha1.TalosMachineList
		if err := w.Client.List(ctx, &machines, client.InNamespace(Namespace)); err != nil {
			return err
		}
		for _, m := range machines.Items {
			if err := saysReady("TalosMachine "+m.Name, m.Status.Conditions); err != nil {
				return err
			}
		}
		return nil
	})
}

func saysReady(who string, conditions []metav1.Condition) error {
	c := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if c == nil {
		return fmt.Errorf("%w: %s says nothing of Ready", errNotYet, who)
	}
	if c.Status != metav1.ConditionTrue {
		return fmt.Errorf("%w: %s: %s: %s", errNotYet, who, c.Reason, c.Message)
	}
	return nil
}

// Reconciles asks the controller to look at a machine, and waits until it says that it has:
// it reaches the API servers, and acts.
func (w *World) Reconciles(ctx context.Context, machine string) error {
	request := rand.Text()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationReconcileRequested, request))
	m := &v1alpha1.TalosMachine{ObjectMeta: named(machine)}
	return cluster.Until(ctx, "the controller to look at "+machine, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		if m.Status.ObservedReconcileRequest == request {
			return nil
		}
		if m.Annotations[v1alpha1.AnnotationReconcileRequested] != request {
			if err := w.Client.Patch(ctx, m, patch); err != nil {
				return err
			}
		}
		return fmt.Errorf("%w: it has seen %q, asked for is %q", errNotYet, m.Status.ObservedReconcileRequest, request)
	})
}
