package controlplane

import (
	"slices"
	"strconv"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// Describe is a control plane in the words by which its etcd member can be told:
// what was recorded of the member, where the machine is or is said to be, and what it
// is called.
func Describe(m *v1alpha1.TalosMachine) guard.Machine {
	out := guard.Machine{Name: m.Name}
	for _, address := range []string{m.Status.Address, m.Spec.Endpoint} {
		if host := hostOf(address); host != "" && !slices.Contains(out.Hosts, host) {
			out.Hosts = append(out.Hosts, host)
		}
	}
	for _, name := range []string{m.Spec.Hostname, m.Status.NodeName} {
		if name != "" && !slices.Contains(out.Hostnames, name) {
			out.Hostnames = append(out.Hostnames, name)
		}
	}
	if e := m.Status.EtcdMember; e != nil {
		out.MemberID, _ = strconv.ParseUint(string(e.ID), 16, 64) // the schema lets nothing else through
		for _, u := range e.PeerURLs {
			out.PeerURLs = append(out.PeerURLs, string(u))
		}
	}
	return out
}

// Approved tells whether a machine is a control plane that a person has let in; one
// that is being deleted is so until it is gone.
func Approved(m *v1alpha1.TalosMachine) bool {
	return m.Spec.Role == v1alpha1.MachineControlPlane && m.Spec.Approved
}
