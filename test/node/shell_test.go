package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// forever is a script that ends when it is asked to.
const forever = `trap 'echo ended $(date +%s%N); exit 0' TERM; echo began; while :; do sleep 0.1; done`

func script(name, text string) corev1.Container {
	return corev1.Container{Name: name, Image: "registry.example.com/shell:v1.0.0", Command: []string{"/bin/sh", "-c"}, Args: []string{text}}
}

// shell makes a pod of one script, with changes.
func shell(t *testing.T, ns, name, text string, changes ...func(*corev1.Pod)) {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{script("main", text)}, TerminationGracePeriodSeconds: ptr.To[int64](5)},
	}
	for _, change := range changes {
		change(p)
	}
	_, err := client.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{})
	must(t, err)
}

// on puts a pod on one node.
func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node} }
}

func label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

// alone keeps pods of a group off each other's nodes.
func alone(group string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels["group"] = group
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: metav1.SetAsLabelSelector(map[string]string{"group": group}),
			}},
		}}
	}
}

func isRunning(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
