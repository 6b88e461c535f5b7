package controlplane

import (
	"context"
	"sync"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// bundleYAML is a real bundle. The contract is one whose service account has a key that
// is made quickly; nothing here uses it.
var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

func realBundle(t *testing.T) []byte {
	t.Helper()
	data, err := bundleYAML()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func loaded(t *testing.T) *talos.Bundle {
	t.Helper()
	b, err := talos.LoadBundle(realBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// apiServer is one with these objects; get, if not nil, sees each get, and may fail it.
func apiServer(t *testing.T, get func(client.ObjectKey) error, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	if get != nil {
		b = b.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := get(key); err != nil {
					return err
				}
				return c.Get(ctx, key, o, opts...)
			},
		})
	}
	return b.Build()
}

func theCluster() *v1alpha1.TalosCluster {
	return &v1alpha1.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay"},
		Spec:       v1alpha1.TalosClusterSpec{SecretsBundleRef: v1alpha1.LocalRef{Name: "quay-talos"}},
	}
}

func theSecret(uid types.UID, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay-talos", UID: uid}, Data: data}
}

// machine is a control plane of the cluster quay that is approved, but for what change
// changes.
func machine(name, endpoint string, change func(*v1alpha1.TalosMachine)) *v1alpha1.TalosMachine {
	m := &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: v1alpha1.TalosMachineSpec{
			ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Endpoint: endpoint, Approved: true,
		},
	}
	if change != nil {
		change(m)
	}
	return m
}
