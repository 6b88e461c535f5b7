package talos

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
)

// leads waits until connections by a node's Service lead to these nodes' API servers.
func leads(t *testing.T, n *Node, names ...string) {
	t.Helper()
	var want []string
	for _, name := range names {
		want = append(want, n.cluster.Node(name).kubeAddress())
	}
	must(t, cluster.Until(t.Context(), "the Service on "+n.Name+" to lead to "+strings.Join(names, " "), func(context.Context) error {
		if got := n.ServiceBackends(); !slices.Equal(got, want) {
			return fmt.Errorf("it leads to %q, want %q", got, want)
		}
		return nil
	}))
}

// TestService: it leads to all API servers, on a worker and on a control plane.
func TestService(t *testing.T) {
	c := withKubernetes(t)
	for _, n := range []*Node{c.Node("worker-1"), c.Node("cp-1")} {
		leads(t, n, "cp-1", "cp-2", "cp-3")
		_, err := byService(t, n).CoreV1().Namespaces().Get(within(t, 10*time.Second), "default", metav1.GetOptions{})
		must(t, err)
	}
}

// TestServiceGoesStale: one that is frozen leads to an API server that is gone, another
// does not, and neither does the frozen one once it has thawed.
func TestServiceGoesStale(t *testing.T) {
	c := withKubernetes(t)
	worker, n := c.Node("worker-1"), c.Node("cp-3")
	leads(t, worker, "cp-1", "cp-2", "cp-3")
	thaw, err := worker.FreezeService()
	must(t, err)
	defer thaw()
	must(t, leave(t, n, time.Minute))
	leads(t, c.Node("cp-1"), "cp-1", "cp-2")
	leads(t, worker, "cp-1", "cp-2", "cp-3")
	thaw()
	leads(t, worker, "cp-1", "cp-2")
	must(t, n.Reboot(within(t, time.Minute)))
	leads(t, worker, "cp-1", "cp-2", "cp-3")
}

// TestServiceOfAMachineThatReboots: there is none meanwhile, and what was frozen has
// been forgotten.
func TestServiceOfAMachineThatReboots(t *testing.T) {
	c := withKubernetes(t)
	n := c.Node("worker-1")
	leads(t, n, "cp-1", "cp-2", "cp-3")
	_, err := n.FreezeService()
	must(t, err)
	n.PowerOff()
	if _, err := net.DialTimeout("tcp", n.ServiceAddress(), time.Second); err == nil || len(n.ServiceBackends()) != 0 {
		t.Errorf("a machine that is off leads to %q: %v", n.ServiceBackends(), err)
	}
	must(t, n.PowerOn())
	leads(t, n, "cp-1", "cp-2", "cp-3")
	must(t, n.RestartProxy())
	leads(t, n, "cp-1", "cp-2", "cp-3")
}

// TestServiceThatIsRestarted: one that is stale leads nowhere, whatever it hears, until it
// begins anew; the fault of before says nothing then.
func TestServiceThatIsRestarted(t *testing.T) {
	c := withKubernetes(t)
	n := c.Node("worker-1")
	leads(t, n, "cp-1", "cp-2", "cp-3")
	thaw, err := n.StaleService()
	must(t, err)
	until(t, "the Service to refuse", func() bool {
		_, err := net.DialTimeout("tcp", n.ServiceAddress(), time.Second)
		return err != nil
	})
	restarts(t, n)
	leads(t, n, "cp-1", "cp-2", "cp-3")
	_, err = n.FreezeService()
	must(t, err)
	thaw()
	p, err := n.proxy()
	must(t, err)
	if p.frozen != 1 {
		t.Errorf("%d faults keep it as it is, want 1", p.frozen)
	}
	restarts(t, n)
	leads(t, n, "cp-1", "cp-2", "cp-3")
}

// restarts lets a kube-proxy begin anew once it has listed everything.
func restarts(t *testing.T, n *Node) {
	t.Helper()
	must(t, cluster.Until(t.Context(), "the kube-proxy of "+n.Name+" to be restarted", func(context.Context) error { return n.RestartProxy() }))
}

// TestBackendsOf: those that are not ready are left out.
func TestBackendsOf(t *testing.T) {
	port, yes, no := int32(6443), true, false
	slice := &discoveryv1.EndpointSlice{
		Ports: []discoveryv1.EndpointPort{{Port: &port}},
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.3.2.3"}, Conditions: discoveryv1.EndpointConditions{Ready: &yes}},
			{Addresses: []string{"10.3.2.2"}, Conditions: discoveryv1.EndpointConditions{Ready: &no}},
			{Addresses: []string{"10.3.2.1"}},
		},
	}
	if got := backendsOf([]*discoveryv1.EndpointSlice{slice}); !slices.Equal(got, []string{"127.3.2.1:6443", "127.3.2.3:6443"}) {
		t.Errorf("the backends are %q", got)
	}
}
