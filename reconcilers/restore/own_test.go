package restore

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore/running"
)

// The own node is found though no machine has a hostname or says a name, and though an
// endpoint is out of date and leads to another machine: by the address that was observed.
// The marker has the Node's name then: by that a process knows later where it runs. A name
// that was known is not forgotten.
//
// covers: C-19, C-42
func TestOwnNodeWithoutAName(t *testing.T) {
	for _, c := range []struct {
		label            string
		endpoint, status string // of cp-2
		resolved         string // its Node, as it was known before
	}{
		{"by its endpoint", "192.0.2.2", "", ""},
		{"by its endpoint with a port", "192.0.2.2:50000", "", ""},
		{"by the address that was observed", "192.0.2.1", "192.0.2.2", ""},
		{"by its name of before", "192.0.2.9", "192.0.2.9", "node-2"},
	} {
		t.Run(c.label, func(t *testing.T) {
			node := ready("node-2")
			node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.2"}}
			b := newBench(t, node)
			for _, n := range b.nodes {
				n.name = ""
			}
			key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "default", Name: name} }
			change(b.world, key("cp-1"), &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) { m.Status.Address, m.Status.NodeName = "192.0.2.1", "node-1" })
			change(b.world, key("cp-2"), &v1alpha1.TalosMachine{}, false, func(m *v1alpha1.TalosMachine) { m.Spec.Endpoint = c.endpoint })
			change(b.world, key("cp-2"), &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
				m.Status.Address, m.Status.NodeName = c.status, c.resolved
			})
			b.p.NodeName = "node-2"
			m, err := b.prepare()
			if err != nil {
				t.Fatal(err)
			}
			if m.Own != "cp-2" || m.Target != "cp-1" {
				t.Errorf("own %q, target %q, want cp-2 and cp-1", m.Own, m.Target)
			}
			if got := m.Node("cp-1").NodeName; got != "node-1" {
				t.Errorf("the Node of cp-1 is %q now, and was node-1", got)
			}
			if got := running.Here(m.Nodes, "node-2"); got != "cp-2" {
				t.Errorf("a process on node-2 takes itself to be on %q; the marker has %v", got, m.Nodes)
			}
		})
	}
}
