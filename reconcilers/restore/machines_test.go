package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

func restored(name, echoed string, conditions ...metav1.Condition) v1alpha1.TalosMachine {
	m := v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.TalosMachineSpec{Approved: true}}
	m.Status.ObservedReconcileRequest, m.Status.Conditions = echoed, conditions
	return m
}

// covers: C-22, C-23, C-24
func TestEchoes(t *testing.T) {
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	ill := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "Its etcd member is ill."}
	reboot := metav1.Condition{Type: v1alpha1.ConditionRebootRequired, Status: metav1.ConditionTrue}
	stranger := restored("cp-9", "")
	stranger.Spec.Approved = false
	at := metav1.NewTime(time.Unix(1900000000, 0))
	going := restored("cp-1", "")
	going.DeletionTimestamp = &at
	returned := restored("cp-4", "", ready)
	returned.Spec.Role = v1alpha1.MachineControlPlane
	for _, c := range []struct {
		label         string
		machine       v1alpha1.TalosMachine
		waits, reboot []string
	}{
		{"well", restored("cp-1", "r-1", ready), nil, nil},
		{"has not looked", restored("cp-1", "", ready), []string{"TalosMachine cp-1, which has not reconciled since"}, nil},
		{"echoes an older request", restored("cp-1", "r-0", ready), []string{"TalosMachine cp-1, which has not reconciled since"}, nil},
		{"has said nothing", restored("cp-1", "r-1"), []string{"TalosMachine cp-1, which has not said how it is"}, nil},
		{"ill", restored("cp-1", "r-1", ill), []string{"TalosMachine cp-1, which is not Ready: Its etcd member is ill."}, nil},
		{"wants a reboot", restored("cp-1", "r-1", ready, reboot), []string{"TalosMachine cp-1, which wants a reboot (RebootRequired)"}, []string{"cp-1"}},
		{"ill and wants a reboot", restored("cp-1", "r-1", ill, reboot), []string{"TalosMachine cp-1, which is not Ready: Its etcd member is ill."}, []string{"cp-1"}},
		{"a stranger", stranger, nil, nil},
		{"being deleted, and held", going, nil, nil},
		{"removed since the snapshot", returned, []string{"TalosMachine cp-4, which has not reconciled since (it was no control plane of the cluster when the restore began, and came back with the snapshot: delete it again, or install it anew)"}, nil},
	} {
		waits, reboot := echoes([]v1alpha1.TalosMachine{c.machine}, "r-1", map[string]bool{"cp-1": true})
		if !slices.Equal(waits, c.waits) || !slices.Equal(reboot, c.reboot) {
			t.Errorf("%s: waits for %q, reboots %q; want %q and %q", c.label, waits, reboot, c.waits, c.reboot)
		}
	}
}

// Nobody waits for the machine of a node that was left out, however it is known; what is
// to be done with it is said.
//
// covers: C-41
func TestStaying(t *testing.T) {
	byNode, byHost, byAddress := restored("m-2", ""), restored("m-3", ""), restored("m-4", "")
	byNode.Status.NodeName, byHost.Spec.Hostname, byAddress.Spec.Endpoint = "node-2", "node-3", "192.0.2.4:50000"
	left := []restore.Node{{Machine: "cp-1", Address: "192.0.2.1"}, {Machine: "node-2", NodeName: "node-2", Address: "192.0.2.2"}, {Machine: "node-3", NodeName: "node-3", Address: "192.0.2.3"}, {Machine: "node-4", Address: "192.0.2.4"}}
	all := []v1alpha1.TalosMachine{restored("cp-1", ""), byNode, byHost, byAddress, restored("cp-5", "")}
	if got := staying(all, left); len(got) != 1 || got[0].Name != "cp-5" || len(all) != 5 || all[0].Name != "cp-1" {
		t.Errorf("got %+v", got)
	}
	m := &restore.Marker{Nodes: []restore.Node{{Machine: "cp-5", Address: "192.0.2.5"}}, Target: "cp-5"}
	if got := leftOut(m); got != nil {
		t.Errorf("got %q of nobody", got)
	}
	m.LeftOut = left[:1]
	if got := leftOut(m); len(got) != 2 || !strings.HasPrefix(got[0], "cp-1 (192.0.2.1) is left out: it must be off") ||
		got[1] != "The TalosMachine of one that is gone for good is to be deleted: kubectl annotate talosmachine NAME quorate.dev/allow-delete=true, then kubectl delete talosmachine NAME." {
		t.Errorf("got %q", got)
	}
}
