package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusedWith is a pod without a node, for exactly this reason.
func refusedWith(message string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		c := find(p.Status.Conditions, corev1.PodScheduled)
		return p.Spec.NodeName == "" && c != nil && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable && c.Message == message && p.Status.Phase == corev1.PodPending
	}
}

func runsOn(node string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		return p.Spec.NodeName == node && isRunning(p) && find(p.Status.Conditions, corev1.PodScheduled).Status == corev1.ConditionTrue
	}
}

func TestAntiAffinity(t *testing.T) {
	ns := namespace(t, "affinity")
	shell(t, ns, "first", forever, on("node-3"), alone("a"))
	eventually(t, ns, "first", "to run", runsOn("node-3"))
	shell(t, ns, "second", forever, on("node-3"), alone("a"))
	eventually(t, ns, "second", "to be refused", refusedWith(
		"0/9 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 8 node(s) didn't match Pod's node affinity/selector."))
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "first", metav1.DeleteOptions{}))
	eventually(t, ns, "second", "to run", runsOn("node-3"))
}

func TestCordon(t *testing.T) {
	ns := namespace(t, "cordon")
	must(t, nodes.Cordon(t.Context(), "node-4"))
	shell(t, ns, "waits", forever, on("node-4"))
	eventually(t, ns, "waits", "to be refused", refusedWith(
		"0/9 nodes are available: 1 node(s) were unschedulable, 8 node(s) didn't match Pod's node affinity/selector."))
	must(t, nodes.Uncordon(t.Context(), "node-4"))
	eventually(t, ns, "waits", "to run", runsOn("node-4"))
}

func TestHoldScheduling(t *testing.T) {
	ns := namespace(t, "hold")
	const text = "0/9 nodes are available: 9 Insufficient memory."
	nodes.HoldScheduling(func(p *corev1.Pod) string {
		if p.Namespace == ns {
			return text
		}
		return ""
	})
	defer nodes.HoldScheduling(nil)
	shell(t, ns, "waits", forever)
	eventually(t, ns, "waits", "to be refused", refusedWith(text))
	nodes.HoldScheduling(nil)
	eventually(t, ns, "waits", "to run", isRunning)
}

func TestAClaimThatIsNotThere(t *testing.T) {
	ns := namespace(t, "unclaimed")
	shell(t, ns, "waits", forever, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"},
		}}}
	})
	eventually(t, ns, "waits", "to be refused", refusedWith(`persistentvolumeclaim "none" not found`))
}
