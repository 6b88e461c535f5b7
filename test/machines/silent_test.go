package machines

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// The machine accepts connections and never answers: a survivor removes its member,
// once.
//
// covers: B-5, B-10
func TestSilentNodeIsRemovedByASurvivor(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.talos.Node("cp-3").Fault(talos.Silent())
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.survivorRemoves("cp-3", id)
	f.leftEtcd("cp-3", id)
	f.went("cp-3", v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonRemovingEtcdMember)
}

// Four members, one of them dead: it is the one that goes, by its ID.
//
// covers: B-5
func TestDeadFourthMember(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 4, count: 3})
	id := f.id("cp-4")
	f.powerOff("cp-4")
	f.ill("cp-4")
	f.delete("cp-4")
	f.gone("cp-4")
	f.lists("cp-1", "cp-2", "cp-3")
	f.survivorRemoves("cp-4", id)
	f.leftEtcd("cp-4", id)
}

// The machine breaks its connections after it has removed its member and before it has
// answered: the list of a survivor ends it.
//
// covers: B-8, B-10
func TestUnreachableInTheMiddleOfLeave(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	f.leavesHalf(talos.Unreachable())
}

// The same with a machine that falls silent: its answer never comes.
//
// covers: B-8, B-10
func TestSilentInTheMiddleOfLeave(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	f.leavesHalf(talos.Silent())
}

// leavesHalf lets cp-3 get into the middle of its leave, and then strikes.
func (f *fleet) leavesHalf(strike talos.Fault) {
	f.t.Helper()
	n, id := f.talos.Node("cp-3"), f.id("cp-3")
	n.Fault(talos.LateLeave(limit))
	f.count(1)
	f.delete("cp-3")
	f.lists("cp-1", "cp-2")
	n.Fault(strike)
	f.gone("cp-3")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}
