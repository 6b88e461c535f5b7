package controlplane

import (
	"reflect"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

func TestDescribe(t *testing.T) {
	cases := []struct {
		name   string
		change func(*v1alpha1.TalosMachine)
		want   guard.Machine
	}{
		{"new", nil, guard.Machine{Name: "cp-1", Hosts: []string{"192.0.2.11"}}},
		{"nowhere", func(m *v1alpha1.TalosMachine) { m.Spec.Endpoint = "" }, guard.Machine{Name: "cp-1"}},
		{"seen elsewhere", func(m *v1alpha1.TalosMachine) {
			m.Spec.Endpoint, m.Status.Address = "cp-1.example.com:50001", "192.0.2.12"
		}, guard.Machine{Name: "cp-1", Hosts: []string{"192.0.2.12", "cp-1.example.com"}}},
		{"all that is recorded", func(m *v1alpha1.TalosMachine) {
			m.Spec.Hostname, m.Status.NodeName, m.Status.Address = "cp-1", "cp-1.example.com", "192.0.2.11"
			m.Status.EtcdMember = &v1alpha1.MachineEtcdMember{ID: "8e9e05c52164694d", PeerURLs: []v1alpha1.URL{"https://192.0.2.11:2380"}}
		}, guard.Machine{
			Name: "cp-1", MemberID: 0x8e9e05c52164694d, PeerURLs: []string{"https://192.0.2.11:2380"},
			Hosts: []string{"192.0.2.11"}, Hostnames: []string{"cp-1", "cp-1.example.com"},
		}},
		{"called the same twice", func(m *v1alpha1.TalosMachine) { m.Spec.Hostname, m.Status.NodeName = "cp-1", "cp-1" },
			guard.Machine{Name: "cp-1", Hosts: []string{"192.0.2.11"}, Hostnames: []string{"cp-1"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Describe(machine("cp-1", "192.0.2.11", c.change)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestApproved(t *testing.T) {
	worker := machine("worker-1", "192.0.2.21", func(m *v1alpha1.TalosMachine) { m.Spec.Role = v1alpha1.MachineWorker })
	waiting := machine("cp-2", "192.0.2.12", func(m *v1alpha1.TalosMachine) { m.Spec.Approved = false })
	if !Approved(machine("cp-1", "192.0.2.11", nil)) || Approved(worker) || Approved(waiting) {
		t.Error("an approved control plane is one that a person let in, and no worker")
	}
}
