package restore

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// covers: C-9
func TestStoreAt(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: "objects"}, Spec: corev1.ServiceSpec{
		ClusterIP: "10.96.0.7", ClusterIPs: []string{"10.96.0.7"}, ExternalIPs: []string{"192.0.2.70"}}}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.71"}, {Hostname: "lb.example.com"}}
	node := ready("worker-1")
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.21"}}
	w := newWorld(t, service, node)
	names := map[string][]string{"objects.example.com": {"192.0.2.71"}, "far.example.com": {"203.0.113.9"}}
	storeAt := StoreAt(w.api, func(_ context.Context, host string) ([]string, error) {
		if found, ok := names[host]; ok {
			return found, nil
		}
		return nil, errors.New("no such host")
	})
	for endpoint, want := range map[string]string{
		"":                            "",
		"https://s3.example.com":      "",
		"https://far.example.com:443": "",
		"http://objects.storage.svc":  "Service storage/objects",
		"http://objects.storage.svc.cluster.local:9000": "Service storage/objects",
		"http://10.96.0.7:9000":                         "Service storage/objects has its address 10.96.0.7",
		"http://192.0.2.70":                             "Service storage/objects has its address 192.0.2.70",
		"https://objects.example.com":                   "Service storage/objects has its address 192.0.2.71",
		"http://192.0.2.21:30900":                       "Node worker-1 has its address 192.0.2.21",
		"http://203.0.113.9":                            "",
	} {
		if got, err := storeAt(t.Context(), endpoint); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", endpoint, got, err, want)
		}
	}
}
