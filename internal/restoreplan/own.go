package restoreplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
)

// managerLabels are those of the manager's Deployment.
var managerLabels = client.MatchingLabels{"app.kubernetes.io/name": "quorate", "app.kubernetes.io/component": "manager"}

// controllersLease is what the replicas of the manager compete for: its holder runs the
// controllers.
const controllersLease = "quorate-controllers"

// Reported tells what a machine calls its Node; empty if it does not say.
type Reported func(ctx context.Context, m *v1alpha1.TalosMachine) string

// ControllerNode is the name of the Node that the controller runs on: of the manager's
// pod that holds the lease, looked for in the namespace of the installation, then in the
// cluster's, then everywhere. Empty if there is no such pod here: it runs elsewhere.
func ControllerNode(ctx context.Context, kube client.Reader, installation, namespace string) (string, error) {
	for _, where := range []string{installation, namespace, corev1.NamespaceAll} {
		var pods corev1.PodList
		if err := kube.List(ctx, &pods, client.InNamespace(where), managerLabels); err != nil {
			return "", fmt.Errorf("list the manager's pods: %w", err)
		}
		running := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool {
			return p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		})
		if len(running) > 0 {
			return leader(ctx, kube, running)
		}
	}
	return "", nil
}

// leader is the Node of the pod that holds the lease; the first one by name if none does
// just now.
func leader(ctx context.Context, kube client.Reader, pods []corev1.Pod) (string, error) {
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	var lease coordinationv1.Lease
	err := kube.Get(ctx, types.NamespacedName{Namespace: pods[0].Namespace, Name: controllersLease}, &lease)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("get Lease %s, which says which replica runs the controllers: %w", controllersLease, err)
	}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_") // the host name, which is the pod's or, on the host's network, the Node's
	}
	for _, p := range pods {
		if holder != "" && (p.Name == holder || p.Spec.NodeName == holder) {
			return p.Spec.NodeName, nil
		}
	}
	return pods[0].Spec.NodeName, nil
}

// MachineOf is the TalosMachine of a Node: by the name that was resolved or is asked for,
// else by what Talos reports, else by the Node's addresses, where the address that was
// observed goes before spec.endpoint, which may be out of date. Nil if none is; node may
// be nil, and reported too.
func MachineOf(ctx context.Context, machines []v1alpha1.TalosMachine, name string, node *corev1.Node, reported Reported) *v1alpha1.TalosMachine {
	claims := []func(m *v1alpha1.TalosMachine) bool{
		func(m *v1alpha1.TalosMachine) bool { return strings.EqualFold(m.Status.NodeName, name) },
		func(m *v1alpha1.TalosMachine) bool { return strings.EqualFold(m.Spec.Hostname, name) },
		func(m *v1alpha1.TalosMachine) bool {
			return reported != nil && strings.EqualFold(reported(ctx, m), name)
		},
		func(m *v1alpha1.TalosMachine) bool {
			return m.Status.Address != "" && at(node, controlplane.Address(m))
		},
		func(m *v1alpha1.TalosMachine) bool {
			return at(node, controlplane.Address(&v1alpha1.TalosMachine{Spec: m.Spec}))
		},
	}
	for _, claim := range claims {
		for i := range machines {
			if claim(&machines[i]) {
				return &machines[i]
			}
		}
	}
	return nil
}

func at(node *corev1.Node, address string) bool {
	return node != nil && slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == address })
}
