package node

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reports writes the pod's status whenever it differs from the API's.
func (w *worker) reports(ctx context.Context) {
	w.k.bell.until(ctx, func() bool {
		pod := w.k.world().pod(w.pod)
		if pod == nil || w.k.silent(w.pod.Spec.NodeName) {
			return false
		}
		status := w.status(pod)
		if !equality.Semantic.DeepEqual(*status, pod.Status) {
			w.report(ctx, status)
		}
		return false
	})
}

func (w *worker) report(ctx context.Context, status *corev1.PodStatus) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": w.pod.UID}, "status": status})
	if err == nil {
		_, err = w.k.client.CoreV1().Pods(w.pod.Namespace).Patch(ctx, w.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		w.k.refused(fmt.Errorf("report the status of pod %s: %w", w.pod.Name, err))
	}
}

// status is what the API should say, given what it says now.
func (w *worker) status(pod *corev1.Pod) *corev1.PodStatus {
	out := pod.Status.DeepCopy()
	out.ObservedGeneration = pod.Generation
	out.StartTime = &w.begun
	out.HostIP = w.k.hostIP(pod.Spec.NodeName)
	out.HostIPs = []corev1.HostIP{{IP: out.HostIP}}
	out.PodIP = w.address
	out.PodIPs = []corev1.PodIP{{IP: w.address}}
	out.InitContainerStatuses = statuses(w.initials)
	out.ContainerStatuses = statuses(w.members)
	out.Phase = phase(out, w.pod.Spec.RestartPolicy)
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := conditions(pod, out, w.failure)
	w.conditions = since(fresh, w.conditions, pod.Status.Conditions)
	out.Conditions = merge(pod.Status.Conditions, w.conditions)
	return out
}

func statuses(containers []*container) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		out = append(out, c.status())
	}
	return out
}

func (c *container) status() corev1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := c.started
	out := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, RestartCount: c.restarts, Ready: c.ready, Started: &started,
		State: *c.state.DeepCopy(), LastTerminationState: *c.last.DeepCopy(),
	}
	if c.child != nil {
		out.ContainerID, out.ImageID = c.id(), c.spec.Image
	}
	return out
}

// phase follows the containers' states.
func phase(s *corev1.PodStatus, policy corev1.RestartPolicy) corev1.PodPhase {
	waiting, running, failed := 0, 0, 0
	for _, c := range s.ContainerStatuses {
		switch {
		case c.State.Terminated != nil && !mayRestart(c.State.Terminated.ExitCode, policy):
			failed += int(min(1, max(0, c.State.Terminated.ExitCode)))
		case c.State.Waiting != nil && c.LastTerminationState.Terminated == nil && c.RestartCount == 0:
			waiting++
		default:
			running++
		}
	}
	switch {
	case policy == corev1.RestartPolicyNever && initFailed(s):
		return corev1.PodFailed
	case waiting > 0:
		return corev1.PodPending
	case running > 0:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func mayRestart(code int32, policy corev1.RestartPolicy) bool {
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}

func initFailed(s *corev1.PodStatus) bool {
	for _, c := range s.InitContainerStatuses {
		if c.State.Terminated != nil && c.State.Terminated.ExitCode != 0 {
			return true
		}
	}
	return false
}
