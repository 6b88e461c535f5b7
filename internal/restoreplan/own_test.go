package restoreplan

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

func managerPod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: managerLabels},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func leaseOf(namespace, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: controllersLease}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
}

func nodeAt(name string, addresses ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, a := range addresses {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
	}
	return n
}

func TestControllerNode(t *testing.T) {
	ended := managerPod("quorate-system", "manager-0", "cp-c")
	ended.Status.Phase = corev1.PodFailed
	other := managerPod("quorate-system", "web", "cp-c")
	other.Labels = map[string]string{"app.kubernetes.io/name": "web"}
	for _, tt := range []struct {
		name    string
		objects []client.Object
		want    string
	}{
		{"nowhere", nil, ""},
		{"of another program", []client.Object{other}, ""},
		{"in its namespace", []client.Object{managerPod("quorate-system", "manager-1", "cp-b"), managerPod("default", "manager-1", "cp-a")}, "cp-b"},
		{"in the cluster's namespace", []client.Object{managerPod("default", "manager-1", "cp-a"), managerPod("elsewhere", "manager-1", "cp-b")}, "cp-a"},
		{"anywhere", []client.Object{managerPod("elsewhere", "manager-1", "cp-b")}, "cp-b"},
		{"one that has ended, one that is not placed", []client.Object{ended, managerPod("quorate-system", "manager-1", ""), managerPod("elsewhere", "manager-2", "cp-a")}, "cp-a"},
		{"the leader of two", []client.Object{managerPod("quorate-system", "manager-1", "cp-a"), managerPod("quorate-system", "manager-2", "cp-b"), leaseOf("quorate-system", "manager-2_6f1c")}, "cp-b"},
		{"the leader on the host's network", []client.Object{managerPod("quorate-system", "manager-1", "cp-a"), managerPod("quorate-system", "manager-2", "cp-b"), leaseOf("quorate-system", "cp-b_6f1c")}, "cp-b"},
		{"nobody leads", []client.Object{managerPod("quorate-system", "manager-2", "cp-b"), managerPod("quorate-system", "manager-1", "cp-a"), leaseOf("quorate-system", "")}, "cp-a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ControllerNode(t.Context(), apiServer(t, nil, tt.objects...), "quorate-system", "default")
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// The machine of a Node, by all that a machine may be known by.
//
// covers: C-42
func TestMachineOf(t *testing.T) {
	type known struct{ name, hostname, resolved, endpoint, observed, reports string }
	for _, tt := range []struct {
		name     string
		machines []known
		node     *corev1.Node
		want     string
	}{
		{"resolved", []known{{"a", "", "n1", "192.0.2.1", "", ""}, {"b", "", "n2", "192.0.2.2", "", ""}}, nil, "b"},
		{"by its hostname", []known{{"a", "n1", "", "192.0.2.1", "", ""}, {"b", "N2", "", "192.0.2.2", "", ""}}, nil, "b"},
		{"an empty hostname, as Talos reports", []known{{"a", "", "", "192.0.2.1", "", "n1"}, {"b", "", "", "192.0.2.2", "", "n2"}}, nil, "b"},
		{"an empty hostname, by the Node's address", []known{{"a", "", "", "192.0.2.1", "", ""}, {"b", "", "", "192.0.2.2:50001", "", ""}}, nodeAt("n2", "192.0.2.2"), "b"},
		{"a stale endpoint at another one's address", []known{{"a", "", "", "192.0.2.2", "192.0.2.1", ""}, {"b", "", "", "192.0.2.9", "192.0.2.2", ""}}, nodeAt("n2", "192.0.2.2"), "b"},
		{"an endpoint that only one has", []known{{"a", "", "", "192.0.2.1", "192.0.2.1", ""}, {"b", "", "", "192.0.2.2", "192.0.2.9", ""}}, nodeAt("n2", "192.0.2.2"), "b"},
		{"a name before an address", []known{{"a", "", "", "192.0.2.2", "192.0.2.2", ""}, {"b", "n2", "", "192.0.2.9", "", ""}}, nodeAt("n2", "192.0.2.2"), "b"},
		{"outside", []known{{"a", "", "n1", "192.0.2.1", "", "n1"}}, nodeAt("n2", "192.0.2.2"), ""},
		{"outside, without a Node", []known{{"a", "", "", "192.0.2.1", "", ""}}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reports := map[string]string{}
			var machines []v1alpha1.TalosMachine
			for _, k := range tt.machines {
				m := machine(k.name, k.endpoint)
				m.Spec.Hostname, m.Status.NodeName, m.Status.Address = k.hostname, k.resolved, k.observed
				machines, reports[k.name] = append(machines, *m), k.reports
			}
			got := MachineOf(t.Context(), machines, "n2", tt.node, func(_ context.Context, m *v1alpha1.TalosMachine) string { return reports[m.Name] })
			switch {
			case got == nil && tt.want != "", got != nil && got.Name != tt.want:
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}
