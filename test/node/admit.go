package node

import (
	"context"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// admit takes care of pods that are bound to the nodes, until the context ends.
func (k *Kubelets) admit(ctx context.Context) {
	k.bell.until(ctx, func() bool {
		for _, pod := range list(k.world().pods.List) {
			if k.ours(pod.Spec.NodeName) && !k.silent(pod.Spec.NodeName) && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				k.adopt(pod)
			}
		}
		return false
	})
}

func (k *Kubelets) ours(node string) bool { return slices.Contains(k.options.Nodes, node) }

// adopt starts a worker for a pod that has none, and for one that had left the API and is
// there again, as after a rewind of etcd.
func (k *Kubelets) adopt(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before := k.workers[pod.UID]; before != nil && !(before.over() && before.left && pod.DeletionTimestamp == nil) || k.ctx.Err() != nil {
		return
	}
	k.adopted++
	w := &worker{
		k: k, pod: pod, number: k.adopted, address: k.block.nextPod(), begun: now(), ended: make(chan struct{}), tokens: map[string]string{},
		dir: filepath.Join(k.options.Dir, "pods", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID)),
	}
	for _, c := range pod.Spec.InitContainers {
		r := initial
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			r = sidecar
		}
		w.initials = append(w.initials, newContainer(w, c, r))
	}
	for _, c := range pod.Spec.Containers {
		w.members = append(w.members, newContainer(w, c, member))
	}
	k.workers[pod.UID] = w
	go w.work()
}
