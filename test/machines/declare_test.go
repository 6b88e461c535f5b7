package machines

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// declare makes the objects that a person makes.
func (f *fleet) declare() {
	f.t.Helper()
	f.keys(f.talos.Bundle())
	must(f.t, admin.Create(f.t.Context(), &v1alpha1.TalosCluster{
		ObjectMeta: f.meta(f.name),
		Spec: v1alpha1.TalosClusterSpec{
			Endpoint:         v1alpha1.URL("https://k8s." + f.ns + ".example.com:6443"),
			ControlPlane:     v1alpha1.ControlPlaneSpec{Count: int32(f.plan.count)},
			SecretsBundleRef: v1alpha1.LocalRef{Name: secretName},
		},
	}))
	for _, n := range f.talos.Nodes() {
		if !f.strange(n.Name) {
			f.approve(n)
		}
	}
}

func (f *fleet) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: f.ns, Name: name}
}

func (f *fleet) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: f.ns, Name: name}
}

const (
	secretName = "factory-talos-secrets"
	bundleKey  = "bundle"
)

// keys makes the Secret with this bundle, or puts it into the one that is there.
func (f *fleet) keys(bundle []byte) {
	f.t.Helper()
	s := &corev1.Secret{ObjectMeta: f.meta(secretName), Data: map[string][]byte{bundleKey: bundle}}
	err := admin.Create(f.t.Context(), s)
	if client.IgnoreAlreadyExists(err) == nil && err != nil {
		err = admin.Update(f.t.Context(), s)
	}
	must(f.t, err)
}

// approve makes the TalosMachine of a node.
func (f *fleet) approve(n *talos.Node, change ...func(*v1alpha1.TalosMachine)) {
	f.t.Helper()
	role := v1alpha1.MachineControlPlane
	if n.Worker() {
		role = v1alpha1.MachineWorker
	}
	m := &v1alpha1.TalosMachine{
		ObjectMeta: f.meta(n.Name),
		Spec:       v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: f.name}, Role: role, Endpoint: n.Endpoint(), Approved: true},
	}
	if f.plan.hostname != nil {
		m.Spec.Hostname = f.plan.hostname(n)
	}
	for _, c := range change {
		c(m)
	}
	must(f.t, admin.Create(f.t.Context(), m))
}
