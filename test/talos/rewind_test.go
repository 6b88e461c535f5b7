package talos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"golang.org/x/sync/errgroup"

	"github.com/quorate/quorate/test/cluster"
)

// TestRewindIsMissed: a kubelet and a kube-proxy that were refused meanwhile go on from a
// revision that is not there any more. They hear of nothing until they are restarted.
func TestRewindIsMissed(t *testing.T) {
	r := rewound(t)
	r.beat(t)
	r.beat(t)
	pods, err := r.worker.Pods()
	must(t, err)
	if !pods.Running("default", "young") || pods.Running("default", "fresh") || r.leadsToExtra() {
		t.Errorf("a pod of the future runs: %t, a new one: %t; the Service leads to %q",
			pods.Running("default", "young"), pods.Running("default", "fresh"), r.worker.ServiceBackends())
	}
	_, err = admin(t, r.worker).ServiceRestart(within(t, time.Minute), "kubelet")
	must(t, err)
	must(t, r.worker.RestartProxy())
	r.heard(t)
}

// rewind is a cluster whose etcd was taken back to a snapshot without a bump, below a
// worker that has seen the future: the pod young. Since then there are the pod fresh
// and one more endpoint of the API server's Service.
type rewind struct {
	client kubernetes.Interface
	worker *Node
}

func rewound(t *testing.T) *rewind {
	t.Helper()
	c, err := Start(t.Context(), Options{ControlPlanes: 1, Workers: 1, Kubernetes: true, WithoutKubePrism: true, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	plane, r := c.Node("cp-1"), &rewind{worker: c.Node("worker-1")}
	r.client = clientOf(t, plane)
	content, err := snapshot(t, plane)
	must(t, err)
	future(t, plane)
	r.toldOfTheFuture(t)
	lost(t, plane)
	must(t, upload(t, plane, content))
	must(t, recoverOn(t, plane, false))
	must(t, plane.Voting(t.Context()))
	must(t, plane.Serving(t.Context()))
	r.beat(t)
	if _, err := r.client.CoreV1().Pods("default").Get(within(t, 10*time.Second), "young", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod of the future is there: %v", err)
	}
	counts(t, r.client, "fresh", r.worker)
	r.addEndpoint(t)
	return r
}

// future makes more revisions than a recovered cluster makes while a test looks.
func future(t *testing.T, n *Node) {
	t.Helper()
	client, ctx := etcdOf(t, n), within(t, time.Minute)
	var writers errgroup.Group
	for w := range 20 {
		writers.Go(func() error {
			for range 100 {
				if _, err := client.Put(ctx, fmt.Sprintf("future/%d", w), ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, writers.Wait())
}

// toldOfTheFuture lets the worker's kubelet and kube-proxy hear of revisions that the
// snapshot does not have.
func (r *rewind) toldOfTheFuture(t *testing.T) {
	t.Helper()
	counts(t, r.client, "young", r.worker)
	says(t, r.worker, "young", "lines: 1")
	_, err := r.client.DiscoveryV1().EndpointSlices("default").Create(within(t, 10*time.Second), endpoint("future", "10.254.254.2"), metav1.CreateOptions{})
	must(t, err)
	until(t, "the kube-proxy to hear", func() bool { return slices.Contains(r.worker.ServiceBackends(), "127.254.254.2:6443") })
}

func endpoint(name, address string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To[int32](6443), Protocol: ptr.To(corev1.ProtocolTCP)}},
	}
}

func (r *rewind) addEndpoint(t *testing.T) {
	t.Helper()
	_, err := r.client.DiscoveryV1().EndpointSlices("default").Create(within(t, 10*time.Second), endpoint("extra", "10.254.254.1"), metav1.CreateOptions{})
	must(t, err)
}

func (r *rewind) leadsToExtra() bool {
	return slices.Contains(r.worker.ServiceBackends(), "127.254.254.1:6443")
}

// beat waits for the worker's next heartbeat: it reaches the API server.
func (r *rewind) beat(t *testing.T) {
	t.Helper()
	now := time.Now()
	must(t, cluster.Until(t.Context(), "a heartbeat of the worker", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		lease, err := r.client.CoordinationV1().Leases("kube-node-lease").Get(ctx, r.worker.Name, metav1.GetOptions{})
		if err == nil && !lease.Spec.RenewTime.After(now) {
			err = errors.New("it is an old one")
		}
		return err
	}))
}

// heard waits until the worker knows what is there now.
func (r *rewind) heard(t *testing.T) {
	t.Helper()
	pods, err := r.worker.Pods()
	must(t, err)
	until(t, "the pod of the future to end", func() bool { return !pods.Running("default", "young") })
	says(t, r.worker, "fresh", "lines: 1")
	until(t, "the new endpoint, and not that of the future", func() bool {
		return r.leadsToExtra() && !slices.Contains(r.worker.ServiceBackends(), "127.254.254.2:6443")
	})
}
