package etcd

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
)

const defaultGracePeriod = 30

// pod adds what spec.pod asks for. The controller's own labels win.
func (c *cycle) pod(t *corev1.PodTemplateSpec) {
	s := c.etcd.Spec.Pod
	if s == nil {
		s = &v1alpha1.PodSettings{}
	}
	for k, v := range s.Labels {
		t.Labels[k] = string(v)
	}
	maps.Copy(t.Labels, c.names.labels())
	for k, v := range s.Annotations {
		if _, own := t.Annotations[k]; !own {
			t.Annotations[k] = string(v)
		}
	}
	for k, v := range s.NodeSelector {
		if t.Spec.NodeSelector == nil {
			t.Spec.NodeSelector = map[string]string{}
		}
		t.Spec.NodeSelector[k] = string(v)
	}
	for _, tol := range s.Tolerations {
		t.Spec.Tolerations = append(t.Spec.Tolerations, corev1.Toleration{
			Key: tol.Key, Operator: corev1.TolerationOperator(tol.Operator), Value: tol.Value,
			Effect: corev1.TaintEffect(tol.Effect), TolerationSeconds: tol.TolerationSeconds,
		})
	}
	for _, secret := range s.ImagePullSecrets {
		t.Spec.ImagePullSecrets = append(t.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	t.Spec.PriorityClassName = s.PriorityClassName
	t.Spec.TerminationGracePeriodSeconds = ptr.To(ptr.Deref(s.TerminationGracePeriodSeconds, defaultGracePeriod))
	c.spread(&t.Spec, s.Spread)
}

// spread keeps members on nodes of their own, and even over zones where asked for.
func (c *cycle) spread(spec *corev1.PodSpec, spread v1alpha1.Spread) {
	selector := &metav1.LabelSelector{MatchLabels: c.names.labels()}
	spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selector, TopologyKey: corev1.LabelHostname}},
	}}
	if spread == v1alpha1.SpreadZone {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
		}}
	}
}

func (c *cycle) resources() corev1.ResourceRequirements {
	if c.etcd.Spec.Pod == nil || c.etcd.Spec.Pod.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	r := c.etcd.Spec.Pod.Resources
	return corev1.ResourceRequirements{Requests: amounts(r.Requests), Limits: amounts(r.Limits)}
}

func amounts(r *v1alpha1.ComputeResources) corev1.ResourceList {
	if r == nil {
		return nil
	}
	out := corev1.ResourceList{}
	if r.CPU != nil {
		out[corev1.ResourceCPU] = *r.CPU
	}
	if r.Memory != nil {
		out[corev1.ResourceMemory] = *r.Memory
	}
	return out
}
