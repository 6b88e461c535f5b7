package etcd

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/guard"
)

// peers gives each pod a name, also before it is ready: members must find each other
// to become ready.
func (c *cycle) peers() *corev1.Service {
	s := c.service(c.names.peerService(), "peer", c.names.peerPort())
	s.Spec.ClusterIP, s.Spec.PublishNotReadyAddresses = corev1.ClusterIPNone, true
	return s
}

// clients leads to the members that are ready: they serve linearizable reads.
func (c *cycle) clients() *corev1.Service {
	return c.service(c.names.clientService(), "client", c.names.clientPort())
}

func (c *cycle) service(name, port string, number int32) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: c.meta(name),
		Spec: corev1.ServiceSpec{
			Selector: c.names.labels(),
			Ports:    []corev1.ServicePort{{Name: port, Port: number, TargetPort: intstr.FromString(port)}},
		},
	}
}

// budget lets evictions take as many pods as the quorum of the size asked for can
// miss. Pods that serve nothing may always go: they are the ones that need it.
func (c *cycle) budget() *policyv1.PodDisruptionBudget {
	size := max(c.recorded().Size(), c.replicas())
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: c.meta(c.names.budget()),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable:               ptr.To(intstr.FromInt(guard.Quorum(size))),
			Selector:                   &metav1.LabelSelector{MatchLabels: c.names.labels()},
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
		},
	}
}

// account is what the members run as unless spec names another: without any right.
func (c *cycle) account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   c.meta(c.names.serviceAccount()),
		AutomountServiceAccountToken: ptr.To(false),
	}
}
