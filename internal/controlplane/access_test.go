package controlplane

import (
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

func TestAddresses(t *testing.T) {
	cases := []struct{ endpoint, observed, address, api, etcd string }{
		{"192.0.2.11", "", "192.0.2.11", "192.0.2.11:50000", "https://192.0.2.11:2379"},
		{"192.0.2.11:50001", "", "192.0.2.11", "192.0.2.11:50001", "https://192.0.2.11:2379"},
		{"cp-1.example.com", "", "cp-1.example.com", "cp-1.example.com:50000", "https://cp-1.example.com:2379"},
		{"cp-1.example.com:50001", "192.0.2.11", "192.0.2.11", "192.0.2.11:50001", "https://192.0.2.11:2379"},
		{"cp-1.example.com", "192.0.2.11", "192.0.2.11", "192.0.2.11:50000", "https://192.0.2.11:2379"},
		{"cp-1.example.com", "192.0.2.11:50002", "192.0.2.11", "192.0.2.11:50000", "https://192.0.2.11:2379"},
		{"2001:db8::11", "", "2001:db8::11", "[2001:db8::11]:50000", "https://[2001:db8::11]:2379"},
		{"[2001:db8::11]", "", "2001:db8::11", "[2001:db8::11]:50000", "https://[2001:db8::11]:2379"},
		{"[2001:db8::11]:50001", "2001:db8::12", "2001:db8::12", "[2001:db8::12]:50001", "https://[2001:db8::12]:2379"},
	}
	a := New(nil, talos.Timeouts{})
	for _, c := range cases {
		t.Run(c.endpoint+" "+c.observed, func(t *testing.T) {
			m := machine("cp-1", c.endpoint, func(m *v1alpha1.TalosMachine) { m.Status.Address = c.observed })
			node, err := a.Dial(loaded(t), m, talos.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if err := node.Close(); err != nil {
				t.Error(err)
			}
			if Address(m) != c.address || node.Address() != c.api || etcdURL(m) != c.etcd {
				t.Errorf("got %s, %s, %s", Address(m), node.Address(), etcdURL(m))
			}
		})
	}
}

func TestDialNowhere(t *testing.T) {
	_, err := New(nil, talos.Timeouts{}).Dial(loaded(t), machine("cp-1", "", nil), talos.Reader)
	if err == nil || err.Error() != "reach TalosMachine cp-1: make a Talos client: the node has no address" {
		t.Errorf("got %v", err)
	}
}

// All machines of the cluster and of no other, by name.
func TestMachines(t *testing.T) {
	elsewhere := machine("cp-0", "192.0.2.9", nil)
	elsewhere.Namespace = "other"
	server := apiServer(t, nil, elsewhere,
		machine("worker-1", "192.0.2.21", func(m *v1alpha1.TalosMachine) { m.Spec.Role = v1alpha1.MachineWorker }),
		machine("cp-2", "192.0.2.12", func(m *v1alpha1.TalosMachine) { m.Spec.Approved = false }),
		machine("pier-1", "192.0.2.31", func(m *v1alpha1.TalosMachine) { m.Spec.ClusterRef.Name = "pier" }),
		machine("cp-1", "192.0.2.11", nil))
	machines, err := New(server, talos.Timeouts{}).Machines(t.Context(), "default", "quay")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range machines {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "cp-1 cp-2 worker-1" {
		t.Errorf("got %s", got)
	}
}
