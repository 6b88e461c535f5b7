package machines

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A machine that left reboots and joins by itself. The audit sees it, says so, and
// removes it again.
func TestRemovedNodeReboots(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	must(t, f.talos.Node("cp-3").Reboot(t.Context()))
	again := f.joinsAgain("cp-3", id)
	e := f.told(f.name, v1alpha1.EventMemberRejoined+": ")
	if e.level != "Warning" || e.kind != "TalosCluster" {
		t.Errorf("it was told: %s", e)
	}
	f.lists("cp-1", "cp-2")
	f.removedAgain("cp-3", again)
	f.keeps(2*grace, "cp-1", "cp-2")
	if c := f.cluster(); meta.IsStatusConditionFalse(c.Status.Conditions, v1alpha1.ConditionQuorate) {
		t.Error(describeCluster(c))
	}
}

// joinsAgain waits for another member at the place of the one that left, and answers
// its ID.
func (f *fleet) joinsAgain(name string, before uint64) (id uint64) {
	f.t.Helper()
	f.until(name+" to join by itself", func(ctx context.Context) error {
		members, err := f.members(ctx)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.ID != before && slices.Contains(m.PeerURLs, f.talos.Node(name).PeerURL()) {
				id = m.ID
				return nil
			}
		}
		return fmt.Errorf("%w: %v", errNotYet, members)
	})
	return id
}

// removedAgain wants the second member to have been removed by a survivor, by its ID,
// and to be in the ledger.
func (f *fleet) removedAgain(name string, id uint64) {
	f.t.Helper()
	removed := f.calls(remove)
	if len(removed) == 0 || removed[0].MemberID != id || removed[0].Node == name {
		f.t.Errorf("a survivor had to remove %x, and the calls were%s", id, tell(f.calls(leave, remove)))
	}
	f.askedOnce()
	f.untilCluster("to have the second member in its ledger", func(c *v1alpha1.TalosCluster) error {
		for _, r := range c.Status.RemovedMembers {
			if r.ID == hex(id) && r.State == v1alpha1.RemovalConfirmed {
				return nil
			}
		}
		return errNotYet
	})
}

// A new machine takes the place of the one that left, with its address, and a person
// has let it in: it joins and stays.
func TestReplacementAtTheSameAddress(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	n := f.talos.Node("cp-3")
	n.PowerOff()
	must(t, n.Reinstall())
	must(t, f.kubelets.Uncordon(t.Context(), n.NodeName()))
	f.approve(n)
	f.count(3)
	must(t, n.PowerOn())
	f.readyMachine("cp-3")
	f.lists("cp-1", "cp-2", "cp-3")
	f.keeps(3*grace, "cp-1", "cp-2", "cp-3")
	f.untold(f.name, v1alpha1.EventMemberRejoined)
	f.asked("cp-3 EtcdLeaveCluster")
}

// A member that no machine explains, and that was never removed, is told of and left to
// people. Approved, it is explained.
func TestUnknownMember(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3, count: 1, strangers: []string{"cp-3"}})
	e := f.told(f.name, v1alpha1.EventUnknownEtcdMember+": ")
	if e.level != "Warning" || e.kind != "TalosCluster" {
		t.Errorf("it was told: %s", e)
	}
	f.untilCluster("to name the member", func(c *v1alpha1.TalosCluster) error {
		return says(c.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonUnknownMember, "cp-3")
	})
	f.keeps(2*grace, "cp-1", "cp-2", "cp-3")
	f.asked()
	f.approve(f.talos.Node("cp-3"))
	f.readyMachine("cp-3")
	f.untilCluster("to have no unknown member", func(c *v1alpha1.TalosCluster) error {
		if says(c.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonUnknownMember) == nil {
			return errNotYet
		}
		return nil
	})
}
