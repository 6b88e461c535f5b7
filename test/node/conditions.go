package node

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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
	mounted := corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}
	if failure != "" {
		mounted.Status, mounted.Message = corev1.ConditionFalse, failure
	}
	out := []corev1.PodCondition{
		mounted,
		condition(corev1.PodInitialized, "ContainersNotInitialized", "containers with incomplete status", uninitialized),
		ready, containers,
		condition(corev1.PodScheduled, "", "", nil),
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
