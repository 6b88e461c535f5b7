package node

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// placed is a pod and the node that it has or will have.
type placed struct {
	pod  *corev1.Pod
	node string
}

// Why a node is none for a pod, as the scheduler words it.
const (
	whyCordoned = "node(s) were unschedulable"
	whySelector = "node(s) didn't match Pod's node affinity/selector"
	whyRepelled = "node(s) didn't match pod anti-affinity rules"
)

// choose answers the node with the fewest pods among those that the pod may run on,
// or, without one, the reasons.
func choose(pod *corev1.Pod, nodes []*corev1.Node, others []placed) (node, why string) {
	reasons := map[string]int{}
	best := -1
	for _, n := range nodes {
		reason := refuses(pod, n, others)
		if reason != "" {
			reasons[reason]++
			continue
		}
		if load := count(others, n.Name); best < 0 || load < best {
			node, best = n.Name, load
		}
	}
	if node != "" {
		return node, ""
	}
	return "", unavailable(len(nodes), reasons)
}

func unavailable(nodes int, reasons map[string]int) string {
	parts := make([]string, 0, len(reasons))
	for reason, n := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	return fmt.Sprintf("0/%d nodes are available: %s.", nodes, strings.Join(parts, ", "))
}

func count(others []placed, node string) (n int) {
	for _, o := range others {
		if o.node == node {
			n++
		}
	}
	return n
}

func refuses(pod *corev1.Pod, node *corev1.Node, others []placed) string {
	switch {
	case node.Spec.Unschedulable:
		return whyCordoned
	case !labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(node.Labels)):
		return whySelector
	}
	for _, o := range others {
		if o.node == node.Name && (repels(pod, o.pod) || repels(o.pod, pod)) {
			return whyRepelled
		}
	}
	return ""
}

// repels tells whether a pod's required anti-affinity keeps another off its node.
func repels(pod, other *corev1.Pod) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey == corev1.LabelHostname && concerns(term, pod.Namespace, other) {
			return true
		}
	}
	return false
}

func concerns(term corev1.PodAffinityTerm, namespace string, other *corev1.Pod) bool {
	namespaces := term.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{namespace}
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	return err == nil && slices.Contains(namespaces, other.Namespace) && selector.Matches(labels.Set(other.Labels))
}
