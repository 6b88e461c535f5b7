package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reports writes the pod's status whenever it differs from the API's.
func (w *worker) reports(ctx context.Context) {
	w.k.bell.until(ctx, func() bool {
		pod := w.k.world.pod(w.pod)
		if pod == nil || w.k.silent(w.pod.Spec.NodeName) {
			return false
		}
		status := w.status(pod)
		if !equality.Semantic.DeepEqual(*status, pod.Status) {
			w.k.complain(w.report(ctx, status))
		}
		return false
	})
}

// report leaves out what is as the API server says: it may be away, or the pod gone.
// The next bell looks again.
func (w *worker) report(ctx context.Context, status *corev1.PodStatus) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": w.pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("report the status of pod %s: %w", w.pod.Name, err)
	}
	_, err = w.k.client.CoreV1().Pods(w.pod.Namespace).Patch(ctx, w.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return fmt.Errorf("report the status of pod %s: %w", w.pod.Name, err)
	}
	return nil
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

// conditions are those of the kubelet, without times.
func conditions(pod *corev1.Pod, s *corev1.PodStatus, failure string) []corev1.PodCondition {
	var unready, uninitialized []string
	for i, c := range s.InitContainerStatuses {
		stays := pod.Spec.InitContainers[i].RestartPolicy != nil
		if stays && !*c.Started || !stays && !c.Ready {
			uninitialized = append(uninitialized, c.Name)
		}
		if stays && !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	for _, c := range s.ContainerStatuses {
		if !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	ready := condition(corev1.PodReady, "ContainersNotReady", "containers with unready status", unready)
	containers := ready
	containers.Type = corev1.ContainersReady
	out := []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, "", failure, nil),
		condition(corev1.PodInitialized, "ContainersNotInitialized", "containers with incomplete status", uninitialized),
		ready, containers,
		condition(corev1.PodScheduled, "", "", nil),
	}
	if failure != "" {
		out[0].Status = corev1.ConditionFalse
		out[0].Message = failure
	}
	for i := range out {
		out[i].ObservedGeneration = pod.Generation
	}
	return out
}

func condition(t corev1.PodConditionType, reason, what string, missing []string) corev1.PodCondition {
	if len(missing) == 0 {
		return corev1.PodCondition{Type: t, Status: corev1.ConditionTrue}
	}
	return corev1.PodCondition{
		Type: t, Status: corev1.ConditionFalse, Reason: reason,
		Message: fmt.Sprintf("%s: [%s]", what, strings.Join(missing, " ")),
	}
}

// since puts in when each condition got its status: as it was reported, or now.
func since(fresh []corev1.PodCondition, known ...[]corev1.PodCondition) []corev1.PodCondition {
	for i := range fresh {
		fresh[i].LastTransitionTime = now()
		for _, have := range known {
			if c := find(have, fresh[i].Type); c != nil && c.Status == fresh[i].Status {
				fresh[i].LastTransitionTime = c.LastTransitionTime
				break
			}
		}
	}
	return fresh
}

func find(conditions []corev1.PodCondition, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == t {
			return &conditions[i]
		}
	}
	return nil
}

// merge keeps others' conditions where they are.
func merge(have, ours []corev1.PodCondition) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, c := range have {
		out = append(out, *cmp.Or(find(ours, c.Type), &c))
	}
	for _, c := range ours {
		if find(have, c.Type) == nil {
			out = append(out, c)
		}
	}
	return out
}
