package restore

import (
	"fmt"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/restore"
)

// staying are the machines but for those that a person has left out of the restore: they
// are off, and nobody waits for them.
func staying(machines []v1alpha1.TalosMachine, left []restore.Node) []v1alpha1.TalosMachine {
	return slices.DeleteFunc(slices.Clone(machines), func(m v1alpha1.TalosMachine) bool {
		return slices.ContainsFunc(left, func(n restore.Node) bool { return isOf(&m, n) })
	})
}

// isOf tells whether a node of a marker is the machine: a marker of the command line knows
// no machine's name.
func isOf(m *v1alpha1.TalosMachine, n restore.Node) bool {
	if m.Name == n.Machine || n.Address != "" && controlplane.Address(m) == n.Host() {
		return true
	}
	return n.NodeName != "" && (m.Status.NodeName == n.NodeName || m.Spec.Hostname == n.NodeName)
}

// leftOut is what a person has to do about the machines that were left out.
func leftOut(m *restore.Marker) []string {
	said := m.LeftOutText()
	if len(said) > 0 {
		said = append(said, fmt.Sprintf("The TalosMachine of one that is gone for good is to be deleted: kubectl annotate talosmachine NAME %s=true, then kubectl delete talosmachine NAME.", v1alpha1.AnnotationAllowDelete))
	}
	return said
}

// stayOff says while the restore goes on what must stay off; empty if nothing.
func stayOff(m *restore.Marker) string {
	var list []string
	for _, n := range m.LeftOut {
		list = append(list, n.Machine)
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" Left out, and to stay off until it is wiped: %s.", names(list, 5))
}
