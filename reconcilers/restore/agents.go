package restore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Agents are the DaemonSets in kube-system whose pods keep what they have read of the
// API: after a rewind those of a node that was not wiped go by a state that is not any
// more. Each is replaced once (field report: a Service's address refused for hours).
var Agents = []string{"kube-proxy", "cilium", "kube-flannel"}

// agentsNamespace is where they are looked for, and nowhere else.
const agentsNamespace = "kube-system"

// host is a node that was not wiped, as the API server has it.
type host struct {
	name string
	// found is false where there is no Node of the name.
	found bool
	ready bool
	// beat is the kubelet's last heartbeat; zero where there is none.
	beat time.Time
	// agents are the pods of the agents' DaemonSets on it.
	agents []agent
	// wants are the DaemonSets that shall have a pod on it.
	wants []string
}

// agent is a pod of one of the DaemonSets.
type agent struct {
	daemonSet string
	pod       corev1.Pod
}

// renewal is what is to be done for the nodes' agents, and what is waited for.
type renewal struct {
	delete []corev1.Pod
	waits  []string
}

// renew tells which agents' pods go, and what must be seen before the nodes are as the
// restored cluster has them. A kubelet that has not been heard of since deletes no pod:
// it comes first.
func renew(hosts []host, since time.Time) (out renewal) {
	for _, h := range hosts {
		if wait := h.kubelet(since); wait != "" {
			out.waits = append(out.waits, wait)
			continue
		}
		pods, waits := h.renew(since)
		out.delete = append(out.delete, pods...)
		out.waits = append(out.waits, waits...)
	}
	return out
}

// kubelet is what the node's kubelet has yet to do; empty if nothing.
func (h host) kubelet(since time.Time) string {
	switch {
	case !h.found:
		return fmt.Sprintf("Node %s, which the API server does not have", h.name)
	case !h.beat.After(since):
		return fmt.Sprintf("a heartbeat of Node %s from after %s, when its kubelet was restarted", h.name, clockTime(since))
	case !h.ready:
		return fmt.Sprintf("Node %s to be Ready", h.name)
	}
	return ""
}

func (h host) renew(since time.Time) (out []corev1.Pod, waits []string) {
	for _, set := range h.wants {
		fresh := false
		for _, a := range h.of(set) {
			switch {
			case a.CreationTimestamp.Time.Before(since.Truncate(time.Second)):
				if a.DeletionTimestamp.IsZero() {
					out = append(out, a)
				}
				waits = append(waits, fmt.Sprintf("pod %s of Node %s to go", a.Name, h.name))
			case isReady(a):
				fresh = true
			}
		}
		if !fresh {
			waits = append(waits, fmt.Sprintf("a new pod of %s on Node %s to be Ready", set, h.name))
		}
	}
	return out, waits
}

func (h host) of(daemonSet string) (out []corev1.Pod) {
	for _, a := range h.agents {
		if a.daemonSet == daemonSet {
			out = append(out, a.pod)
		}
	}
	return out
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func nodeIsReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// controlledBy tells whether a pod is of the DaemonSet with this UID.
func controlledBy(p *corev1.Pod, of metav1.Object) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.UID == of.GetUID()
}

func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// names puts so many names of a list into a sentence, and counts the rest.
func names(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
