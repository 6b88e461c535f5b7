package restore

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodeLeases is the namespace of the kubelets' heartbeats.
const nodeLeases = corev1.NamespaceNodeLease

// hosts reads these nodes and their agents from the API server itself.
func hosts(ctx context.Context, live client.Reader, names []string) ([]host, error) {
	sets, err := daemonSets(ctx, live)
	if err != nil {
		return nil, err
	}
	var out []host
	for _, name := range names {
		h, err := readHost(ctx, live, name, sets)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// daemonSets are those of the agents that the cluster has.
func daemonSets(ctx context.Context, live client.Reader) (out []appsv1.DaemonSet, _ error) {
	for _, name := range Agents {
		var set appsv1.DaemonSet
		err := live.Get(ctx, types.NamespacedName{Namespace: agentsNamespace, Name: name}, &set)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("get DaemonSet %s/%s: %w", agentsNamespace, name, err)
		default:
			out = append(out, set)
		}
	}
	return out, nil
}

func readHost(ctx context.Context, live client.Reader, name string, sets []appsv1.DaemonSet) (host, error) {
	h := host{name: name}
	var node corev1.Node
	if err := live.Get(ctx, types.NamespacedName{Name: name}, &node); err != nil {
		if apierrors.IsNotFound(err) {
			return h, nil
		}
		return h, fmt.Errorf("get Node %s: %w", name, err)
	}
	h.found, h.ready = true, nodeIsReady(&node)
	var err error
	if h.beat, err = heartbeat(ctx, live, name); err != nil {
		return h, err
	}
	for i := range sets {
		if err := h.add(ctx, live, &node, &sets[i]); err != nil {
			return h, err
		}
	}
	return h, nil
}

// heartbeat is when the kubelet of a node was heard of last.
func heartbeat(ctx context.Context, live client.Reader, node string) (time.Time, error) {
	var lease coordinationv1.Lease
	err := live.Get(ctx, types.NamespacedName{Namespace: nodeLeases, Name: node}, &lease)
	switch {
	case apierrors.IsNotFound(err):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("get the heartbeat of Node %s: %w", node, err)
	case lease.Spec.RenewTime == nil:
		return time.Time{}, nil
	}
	return lease.Spec.RenewTime.Time, nil
}

// add looks for a DaemonSet's pods on the node.
func (h *host) add(ctx context.Context, live client.Reader, node *corev1.Node, set *appsv1.DaemonSet) error {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return fmt.Errorf("read the selector of DaemonSet %s: %w", set.Name, err)
	}
	var pods corev1.PodList
	err = live.List(ctx, &pods, client.InNamespace(agentsNamespace), client.MatchingLabelsSelector{Selector: selector}, client.MatchingFields{"spec.nodeName": node.Name})
	if err != nil {
		return fmt.Errorf("list the pods of DaemonSet %s on Node %s: %w", set.Name, node.Name, err)
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName == node.Name && controlledBy(&p, set) {
			h.agents = append(h.agents, agent{set.Name, p})
		}
	}
	if runsOn(set, node) {
		h.wants = append(h.wants, set.Name)
	}
	return nil
}

// runsOn tells whether a DaemonSet is to have a pod on a node.
func runsOn(set *appsv1.DaemonSet, node *corev1.Node) bool {
	template := corev1.Pod{Spec: set.Spec.Template.Spec}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(&template).Match(node); err != nil || !fits {
		return false
	}
	// A DaemonSet's pods tolerate what a node's illness taints it with.
	_, untolerated := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, template.Spec.Tolerations,
		func(t *corev1.Taint) bool {
			return !illness[t.Key] && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
		}, true)
	return !untolerated
}

// illness are the taints that every DaemonSet's pod tolerates.
var illness = map[string]bool{
	corev1.TaintNodeNotReady: true, corev1.TaintNodeUnreachable: true, corev1.TaintNodeDiskPressure: true,
	corev1.TaintNodeMemoryPressure: true, corev1.TaintNodePIDPressure: true, corev1.TaintNodeUnschedulable: true,
}
