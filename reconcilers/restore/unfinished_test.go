package restore

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
)

func TestUnfinishedEtcd(t *testing.T) {
	now := metav1.NewTime(time.Unix(1900000000, 0))
	busy := v1alpha1.EtcdStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionScaleOperationInProgress, Status: metav1.ConditionTrue}}}
	for _, c := range []struct {
		label  string
		etcd   v1alpha1.Etcd
		before int32
		known  bool
		want   string
	}{
		{"settled", v1alpha1.Etcd{Spec: v1alpha1.EtcdSpec{Replicas: ptr.To[int32](3)}}, 3, true, ""},
		{"unknown then", v1alpha1.Etcd{Spec: v1alpha1.EtcdSpec{Replicas: ptr.To[int32](3)}}, 0, false, ""},
		{"of another size", v1alpha1.Etcd{Spec: v1alpha1.EtcdSpec{Replicas: ptr.To[int32](3)}}, 5, true,
			"it asks for 3 members, as it did at the snapshot, and for 5 when the restore began"},
		{"in a change", v1alpha1.Etcd{Spec: v1alpha1.EtcdSpec{Replicas: ptr.To[int32](3)}, Status: busy}, 3, true,
			"a membership change is on its way, as it was at the snapshot"},
		{"being deleted", v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, 1, true,
			"it is being deleted, as it was at the snapshot"},
	} {
		if got := unfinishedEtcd(&c.etcd, c.before, c.known); got != c.want {
			t.Errorf("%s: %q, want %q", c.label, got, c.want)
		}
	}
}

func TestUnfinishedMachineAndOperation(t *testing.T) {
	now := metav1.NewTime(time.Unix(1900000000, 0))
	going := v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	if got := unfinishedMachine(&going); got != "it is being deleted, as it was at the snapshot" {
		t.Errorf("a machine that is deleted: %q", got)
	}
	if got := unfinishedMachine(&v1alpha1.TalosMachine{}); got != "" {
		t.Errorf("a machine that stays: %q", got)
	}
	for phase, want := range map[v1alpha1.OperationPhase]bool{
		"": true, v1alpha1.PhasePending: true, v1alpha1.PhaseRunning: true, v1alpha1.PhasePaused: true,
		v1alpha1.PhaseHeld: false, v1alpha1.PhaseCompleted: false,
	} {
		o := v1alpha1.TalosOperation{Status: v1alpha1.TalosOperationStatus{Phase: phase}}
		if got := unfinishedOperation(&o); got != want {
			t.Errorf("phase %q: unfinished %t, want %t", phase, got, want)
		}
	}
}
