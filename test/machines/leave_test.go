package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// A control plane is deleted: its pods go, it leaves etcd by itself, people are told
// what it still has, and then its object goes.
//
// covers: B-2, B-4, B-7, B-9, B-16
func TestSelfLeave(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n, id := f.talos.Node("cp-3"), f.id("cp-3")
	f.deploy("web", n.NodeName())
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.off("web", n.NodeName())
	f.cordoned("cp-3")
	f.went("cp-3", v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonDraining, v1alpha1.ReasonRemovingEtcdMember)
	f.told("cp-3", v1alpha1.EventRemovalApproved, v1alpha1.EventNodeDrained)
	f.leftEtcd("cp-3", id)
	if c := f.calls(leave)[0]; c.Ended.IsZero() || c.Err != nil || !c.Ended.Before(f.story.end("cp-3")) {
		t.Errorf("its object went at %s, before the leave was answered%s", f.story.end("cp-3"), tell([]talos.Call{c}))
	}
	if has, err := n.HasEtcdData(); has || err != nil {
		t.Errorf("its data is there: %t, %v", has, err)
	}
}

// leftEtcd wants the ledger and the event of a control plane that is out of etcd.
func (f *fleet) leftEtcd(name string, id uint64) {
	f.t.Helper()
	want := []string{fmt.Sprintf("%x intended", id), fmt.Sprintf("%x confirmed", id)}
	if got := f.story.ledger(f.talos.Node(name).PeerURL()); !slices.Equal(got, want) {
		f.t.Errorf("the ledger said %v, want %v", got, want)
	}
	f.warned(name, true)
}

// warned wants the event about the keys that a machine keeps, which speaks of etcd only
// where the machine was removed from it.
func (f *fleet) warned(name string, ofEtcd bool) {
	f.t.Helper()
	e := f.told(name, v1alpha1.EventNodeStillHasClusterCredentials)
	if e.level != "Warning" || e.kind != "TalosMachine" || strings.Contains(e.note, "removed from etcd") != ofEtcd || !strings.Contains(e.note, name) {
		f.t.Errorf("it was told: %s", e)
	}
}

// The leader hands over before it leaves.
func TestLeaderDeparts(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	f.lead("cp-3")
	id := f.id("cp-3")
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
	handed := f.calls(forfeit)
	if len(handed) == 0 || handed[0].Node != "cp-3" || handed[0].Err != nil || handed[0].Ended.After(f.calls(leave)[0].Began) {
		t.Errorf("the leader did not hand over first:%s", tell(f.calls(leave, forfeit)))
	}
}

// The machine leaves, and says that it failed: the list says otherwise, and nobody
// removes it again.
//
// covers: B-4, B-8
func TestLeaveFailsAfterItHappened(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.talos.Node("cp-3").Fault(talos.AnswerAfter(leave, status.Error(codes.Unknown, "failed to leave cluster: context canceled")))
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// The machine answers and cannot leave: a survivor removes its member.
//
// covers: B-5
func TestLeaveFails(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.talos.Node("cp-3").Fault(talos.Answer(leave, status.Error(codes.Unknown, "failed to leave cluster: it is not ready")))
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.survivorRemoves("cp-3", id)
}

// A member that has never started has no name: it is known by its peer URL.
func TestUnstartedMember(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n, id := f.unstarted("cp-4")
	f.approve(n, func(m *v1alpha1.TalosMachine) { m.Spec.Hostname = n.Name })
	f.watchedOver("cp-4")
	f.delete("cp-4")
	f.gone("cp-4")
	f.lists("cp-1", "cp-2", "cp-3")
	f.survivorRemoves("cp-4", id)
}
