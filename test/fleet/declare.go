package fleet

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// BundleKey is the key of a Secret that holds a Talos secrets bundle.
const BundleKey = "bundle"

// Secret holds the machines' Talos secrets bundle.
func (f *Fleet) Secret() *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: typed(corev1.SchemeGroupVersion, "Secret"), ObjectMeta: f.meta(f.secretName()),
		Data: map[string][]byte{BundleKey: f.Talos.Bundle()},
	}
}

// TalosCluster declares so many control planes.
func (f *Fleet) TalosCluster(count int) *v1alpha1.TalosCluster {
	return &v1alpha1.TalosCluster{
		TypeMeta: typed(v1alpha1.GroupVersion, "TalosCluster"), ObjectMeta: f.meta(f.options.Cluster),
		Spec: v1alpha1.TalosClusterSpec{
			Endpoint:         v1alpha1.URL("https://k8s." + f.options.Cluster + ".example.com:6443"),
			ControlPlane:     v1alpha1.ControlPlaneSpec{Count: int32(count)},
			SecretsBundleRef: v1alpha1.LocalRef{Name: f.secretName()},
		},
	}
}

// TalosMachine declares a machine that a person has let in. Its name must be that of
// one of the fleet.
func (f *Fleet) TalosMachine(name string) *v1alpha1.TalosMachine {
	n := f.Talos.Node(name)
	return &v1alpha1.TalosMachine{
		TypeMeta: typed(v1alpha1.GroupVersion, "TalosMachine"), ObjectMeta: f.meta(name),
		Spec: v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: f.options.Cluster}, Role: roleOf(n), Endpoint: n.Endpoint(), Approved: true},
	}
}

// Declare makes all of these: the Secret, a TalosCluster of so many control planes, and
// a TalosMachine for each machine.
func (f *Fleet) Declare(ctx context.Context, count int) error {
	objects := []client.Object{f.Secret(), f.TalosCluster(count)}
	for _, n := range f.Talos.Nodes() {
		objects = append(objects, f.TalosMachine(n.Name))
	}
	for _, o := range objects {
		if err := f.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("declare %s: %w", o.GetName(), err)
		}
	}
	return nil
}

// YAML is objects as a person writes them into a file.
func YAML(objects ...client.Object) (string, error) {
	var out string
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return "", fmt.Errorf("write %s as YAML: %w", o.GetName(), err)
		}
		if out != "" {
			out += "---\n"
		}
		out += string(text)
	}
	return out, nil
}

func roleOf(n *talos.Node) v1alpha1.MachineRole {
	if n.Worker() {
		return v1alpha1.MachineWorker
	}
	return v1alpha1.MachineControlPlane
}

func (f *Fleet) secretName() string { return f.options.Cluster + "-talos-secrets" }

func (f *Fleet) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: f.options.Namespace, Name: name}
}

func typed(of schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: of.String(), Kind: kind}
}
