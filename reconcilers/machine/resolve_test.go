package machine

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// The Node is the one of spec.hostname, else the one that Talos reports or reported,
// else the one at the machine's address; a machine of which nothing tells is refused.
//
// covers: B-12
func TestNodeName(t *testing.T) {
	const full, unresolved = "cp-1.example.com", "The machine's Node cannot be told: "
	for name, c := range map[string]struct {
		hostname, recorded, reports string
		silent                      bool
		nodes                       map[string]string // addresses by name
		want, refused               string
	}{
		"by spec.hostname":                     {hostname: "cp-1", nodes: map[string]string{"cp-1": ""}, want: "cp-1"},
		"short, and the Node is full":          {hostname: "cp-1", recorded: full, nodes: map[string]string{full: ""}, want: full},
		"short, never recorded, and it says":   {hostname: "cp-1", reports: full, nodes: map[string]string{full: ""}, want: full},
		"full, and the Node is short":          {hostname: full, reports: "cp-1", nodes: map[string]string{"cp-1": ""}, want: "cp-1"},
		"no hostname, recorded":                {recorded: full, silent: true, nodes: map[string]string{full: ""}, want: full},
		"no hostname, it says":                 {reports: full, nodes: map[string]string{full: ""}, want: full},
		"no hostname, silent, by address":      {silent: true, nodes: map[string]string{"rack-7": "192.0.2.1", "rack-8": "192.0.2.2"}, want: "rack-7"},
		"the Node is gone":                     {hostname: "cp-1", silent: true, want: "cp-1"},
		"the Node is gone, by the record":      {recorded: full, silent: true, want: full},
		"both are Nodes":                       {hostname: "cp-2", recorded: "cp-1", nodes: map[string]string{"cp-1": "", "cp-2": ""}, refused: "spec.hostname is cp-2, and the machine has called itself cp-1; both are Nodes. Correct spec.hostname."},
		"two at the address":                   {silent: true, nodes: map[string]string{"rack-7": "192.0.2.1", "rack-8": "192.0.2.1"}, refused: "spec.hostname is empty, the machine does not say what its Node is called, and no Node has the address 192.0.2.1. Set spec.hostname to the name of its Node."},
		"nothing tells":                        {silent: true, refused: "spec.hostname is empty, the machine does not say what its Node is called, and no Node has the address 192.0.2.1. Set spec.hostname to the name of its Node."},
		"another Node has the name of no host": {hostname: "cp-1", silent: true, nodes: map[string]string{"rack-7": "192.0.2.1"}, want: "rack-7"},
	} {
		t.Run(name, func(t *testing.T) {
			m := deleted(machineOf("cp-1", v1alpha1.MachineControlPlane, 1))
			m.Spec.Hostname, m.Status.NodeName = c.hostname, c.recorded
			p := newPlayed(t, nil, m)
			p.silent["cp-1"], p.reports = c.silent, map[string]string{"cp-1": c.reports}
			p.nodes(t, c.nodes)
			r := p.reconciler(immortal())
			cy := &cycle{Reconciler: r, machine: m, read: m.DeepCopy(), log: r.Log, bundle: &talos.Bundle{}}
			if err := r.Live.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "cp-1"}, cy.read); err != nil {
				t.Fatal(err)
			}
			cy.machine = cy.read.DeepCopy()
			err := cy.resolve(t.Context())
			if c.refused == "" {
				if err != nil || cy.node != c.want {
					t.Errorf("got %q (%v), want %q", cy.node, err, c.want)
				}
				return
			}
			got := cy.condition(v1alpha1.ConditionRemoval)
			if got == nil || got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonNodeNameUnresolved || strings.TrimPrefix(got.Message, unresolved) != c.refused {
				t.Errorf("Removal is %+v, want %q", got, c.refused)
			}
		})
	}
}

// nodes takes the place of the Nodes that a played world begins with.
func (p *played) nodes(t *testing.T, addresses map[string]string) {
	t.Helper()
	if err := p.api.DeleteAllOf(t.Context(), &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
	for name, address := range addresses {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if address != "" {
			n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		}
		if err := p.api.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}
