package etcd

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podTrouble says what keeps a member's pod from running: unschedulable, an image
// that cannot be had, an agent that refuses; nothing if it runs.
func (c *cycle) podTrouble(ordinal int) string {
	pod := c.podOf(ordinal)
	if pod == nil {
		return ": there is no pod " + c.names.pod(ordinal) + c.setTrouble()
	}
	if text := troubleOf(pod); text != "" {
		return ": " + text
	}
	return ""
}

func troubleOf(pod *corev1.Pod) string {
	if !pod.DeletionTimestamp.IsZero() {
		return "its pod is being deleted"
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "its pod is not scheduled: " + condition.Message
		}
	}
	if text := refusal(pod); text != "" {
		return text
	}
	statuses := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for _, s := range statuses {
		if w := s.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			return strings.TrimSuffix("container "+s.Name+": "+w.Reason+": "+w.Message, ": ")
		}
	}
	return ""
}

// setTrouble is what the StatefulSet's controller says of pods that it cannot make.
func (c *cycle) setTrouble() string {
	if c.unmadeWhy == "" {
		return ""
	}
	return ": " + c.unmadeWhy
}
