package node

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
)

func namesResolve(t *testing.T, ns string) {
	p, err := pod(t.Context(), ns, "main-1")
	must(t, err)
	r := resolver()
	for name, want := range map[string]int{
		"main-1.main-peer." + ns + ".svc":               1,
		"main-1.main-peer." + ns + ".svc.cluster.local": 1,
		"main-peer." + ns + ".svc":                      3,
		"main." + ns:                                    1,
		"main." + ns + ".svc":                           1,
		"main." + ns + ".svc.cluster.local.":            1,
	} {
		found, err := r.LookupHost(t.Context(), name)
		if err != nil || len(found) != want || !strings.HasPrefix(found[0], "127.7") {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if strings.HasPrefix(name, "main-1") && err == nil && found[0] != loopback(p.Status.PodIP) {
			t.Errorf("%s: %v, and the pod has %s", name, found, p.Status.PodIP)
		}
	}
	for _, name := range []string{"main-7.main-peer." + ns + ".svc", "main-1.main." + ns + ".svc", "none." + ns, "example.com"} {
		var e *net.DNSError
		if found, err := r.LookupHost(t.Context(), name); !errors.As(err, &e) || !e.IsNotFound {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if found, err := r.LookupAddr(t.Context(), loopback(p.Status.PodIP)); err != nil || len(found) != 1 || found[0] != "main-1.main-peer."+ns+".svc.cluster.local." {
		t.Errorf("reverse: %v, %v", found, err)
	}
}

// TestServiceWithoutEndpoints has a name, and nobody behind it.
func TestServiceWithoutEndpoints(t *testing.T) {
	ns := namespace(t, "nobody")
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "nobody"}, Ports: []corev1.ServicePort{{Port: 2379}},
	}}
	_, err := client.CoreV1().Services(ns).Create(t.Context(), s, metav1.CreateOptions{})
	must(t, err)
	dialer := &net.Dialer{Resolver: resolver()}
	must(t, cluster.Until(bounded(t), "the name", func(ctx context.Context) error {
		_, err := resolver().LookupHost(ctx, "nobody."+ns+".svc")
		return err
	}))
	if _, err := dialer.DialContext(t.Context(), "tcp", "nobody."+ns+".svc:2379"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialed: %v", err)
	}
}
