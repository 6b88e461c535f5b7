package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// schedule binds pods until the context ends.
func (k *Kubelets) schedule(ctx context.Context) {
	k.bell.until(ctx, func() bool {
		for _, pod := range list(k.world().pods.List) {
			if k.waits(pod) {
				k.place(ctx, pod)
			}
		}
		return false
	})
}

func (k *Kubelets) waits(pod *corev1.Pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if pod.Spec.NodeName != "" {
		delete(k.assumed, pod.UID)
		return false
	}
	return k.assumed[pod.UID] == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0 &&
		pod.Spec.SchedulerName == corev1.DefaultSchedulerName
}

func (k *Kubelets) place(ctx context.Context, pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	why := k.held(pod)
	if why == "" {
		why = k.unbound(pod)
	}
	node := ""
	if why == "" {
		node, why = choose(pod, k.nodes(), k.placed())
	}
	var err error
	if node == "" {
		err = k.refuse(ctx, pod, why)
	} else {
		err = k.bind(ctx, pod, node)
	}
	k.refused(err)
}

func (k *Kubelets) bind(ctx context.Context, pod *corev1.Pod, node string) error {
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	if err := k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("bind pod %s/%s to node %s: %w", pod.Namespace, pod.Name, node, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.assumed[pod.UID] = node
	return nil
}

// refuse says in the pod's status why it has no node, once for each reason.
func (k *Kubelets) refuse(ctx context.Context, pod *corev1.Pod, why string) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message == why {
			return nil
		}
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: why, LastTransitionTime: metav1.Now(), ObservedGeneration: pod.Generation,
		}}},
	})
	if err == nil {
		_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		return fmt.Errorf("say that pod %s/%s has no node: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// unbound names a claim that the pod has to wait for.
func (k *Kubelets) unbound(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := k.world().claims.PersistentVolumeClaims(pod.Namespace).Get(v.PersistentVolumeClaim.ClaimName)
		switch {
		case err != nil:
			return fmt.Sprintf("persistentvolumeclaim %q not found", v.PersistentVolumeClaim.ClaimName)
		case claim.DeletionTimestamp != nil:
			return fmt.Sprintf("persistentvolumeclaim %q is being deleted", claim.Name)
		case claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "":
			return "pod has unbound immediate PersistentVolumeClaims"
		}
	}
	return ""
}

// nodes are those that exist, by name.
func (k *Kubelets) nodes() []*corev1.Node {
	return slices.SortedFunc(slices.Values(list(k.world().nodes.List)), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
}

func (k *Kubelets) placed() (out []placed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pod := range list(k.world().pods.List) {
		node := cmp.Or(pod.Spec.NodeName, k.assumed[pod.UID])
		if node != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			out = append(out, placed{pod, node})
		}
	}
	return out
}
