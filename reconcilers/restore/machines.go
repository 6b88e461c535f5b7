package restore

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
)

// echoes tells what is still waited for, by name, until every approved machine has
// reconciled against the restored state, is Ready and wants no reboot. reboot names those
// that a person has to reboot; nothing is rebooted by itself. known are the machines of when the
// restore began: a control plane beyond them came back with the rewind.
func echoes(machines []v1alpha1.TalosMachine, request string, known map[string]bool) (waits, reboot []string) {
	for i := range machines {
		m := &machines[i]
		if !m.Spec.Approved || !m.DeletionTimestamp.IsZero() {
			continue // a stranger until it is approved, or held and on its way out
		}
		if needsReboot(m) {
			reboot = append(reboot, m.Name)
		}
		if wait := echo(m, request); wait != "" {
			waits = append(waits, wait+since(m, known))
		}
	}
	return waits, reboot
}

func echo(m *v1alpha1.TalosMachine, request string) string {
	if m.Status.ObservedReconcileRequest != request {
		return fmt.Sprintf("TalosMachine %s, which has not reconciled since", m.Name)
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return fmt.Sprintf("TalosMachine %s, which has not said how it is", m.Name)
	case ready.Status != "True":
		return fmt.Sprintf("TalosMachine %s, which is not Ready: %s", m.Name, ready.Message)
	case needsReboot(m):
		return fmt.Sprintf("TalosMachine %s, which wants a reboot (RebootRequired)", m.Name)
	}
	return ""
}

// since says of a control plane that is waited for that it was removed after the
// snapshot, as its wait may never end.
func since(m *v1alpha1.TalosMachine, known map[string]bool) string {
	if known[m.Name] || known[m.Status.NodeName] || known[m.Spec.Hostname] || !controlplane.Approved(m) {
		return ""
	}
	return " (it was no control plane of the cluster when the restore began, and came back with the snapshot: delete it again, or install it anew)"
}

func needsReboot(m *v1alpha1.TalosMachine) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionRebootRequired)
}
