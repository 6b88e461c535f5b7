package machines

import (
	"fmt"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// pause is how long a refusal is looked at.
const pause = 3 * time.Second

// The last control plane is refused at admission. A deletion that admission did not see
// is refused by the reconciler with the same words, and goes on when there is another.
//
// covers: B-1
func TestLastControlPlane(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 1})
	const text = "Deleting machine cp-1 is refused: no other approved control plane of cluster factory would remain, and its etcd would be gone. " +
		"Approve another control plane first, or delete the TalosCluster if the whole cluster is to go. (machine-delete-last-control-plane)"
	f.refused(f.tryDelete("cp-1"), text)
	must(t, f.deleteAs(controller, "cp-1"))
	f.refusedLater("cp-1", text)
	id := f.id("cp-1")
	n, err := f.talos.Add("cp-2", false)
	must(t, err)
	must(t, n.PowerOn())
	f.approve(n, func(m *v1alpha1.TalosMachine) { m.Spec.Hostname = n.Name })
	f.gone("cp-1")
	f.lists("cp-2")
	f.asked("cp-1 EtcdLeaveCluster")
	f.leftEtcd("cp-1", id)
}

// refusedLater wants the reconciler's refusal, and that nothing happens.
func (f *fleet) refusedLater(name string, texts ...string) {
	f.t.Helper()
	f.removal(name, v1alpha1.ReasonRemovalRefused, texts...)
	c := f.condition(name)
	if c.Status != "False" {
		f.t.Errorf("a refused removal is %s", c.Status)
	}
	f.told(name, v1alpha1.EventRemovalRefused)
	f.nothingHappens()
	f.untold(name, v1alpha1.EventNodeDrained)
}

// nothingHappens holds that the membership is left alone for a while.
func (f *fleet) nothingHappens() {
	f.t.Helper()
	var names []string
	members, err := f.members(f.t.Context())
	must(f.t, err)
	for _, m := range members {
		names = append(names, m.Name)
	}
	f.keeps(pause, names...)
	f.asked()
}

// Below the declared count: the same at admission and later. Lowering the count lets
// the deletion go on by itself.
//
// covers: B-1
func TestBelowDeclaredCount(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	const text = "Deleting machine cp-3 is refused: 2 approved control planes would remain, and cluster factory declares 3. Approve a replacement control plane first, " +
		"or lower spec.controlPlane.count (to 1, 3 or 5) if you mean to shrink the cluster. (machine-delete-below-count)"
	f.refused(f.tryDelete("cp-3"), text)
	must(t, f.deleteAs(controller, "cp-3"))
	f.refusedLater("cp-3", text)
	id := f.id("cp-3")
	f.count(1)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// The count is raised again while the deletion is on its way, which admission allowed:
// it waits, and goes on when the count is lowered.
//
// covers: B-1
func TestCountRaisedWhileDraining(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n := f.talos.Node("cp-3")
	f.deploy("web", n.NodeName())
	f.budget("web")
	f.count(1)
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonDraining, "web-")
	f.count(3)
	f.removal("cp-3", v1alpha1.ReasonRemovalRefused, "2 approved control planes would remain, and cluster factory declares 3")
	f.unbudget("web")
	f.nothingHappens()
	f.count(1)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
}

// With one member ill, etcd could not bear the loss of another one. Healed, it can, and
// the deletion goes on by itself.
//
// covers: B-1
func TestQuorumNotSafeThenHealed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	f.count(1)
	f.powerOff("cp-2")
	f.ill("cp-2")
	const text = "Deleting machine cp-3 is refused: 2 of 3 etcd voters are healthy, and without it 1 of 2 would be. " +
		"Heal or add voters first (unhealthy: cp-2), then delete again. (machine-delete-keeps-quorum)"
	f.refused(f.tryDelete("cp-3"), text)
	must(t, f.deleteAs(controller, "cp-3"))
	f.refusedLater("cp-3", "2 of 3", "cp-2")
	f.powerOn("cp-2")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
}

// ill waits until the cluster's status knows that a member is.
func (f *fleet) ill(name string) {
	f.t.Helper()
	f.untilCluster("to know that "+name+" is ill", func(c *v1alpha1.TalosCluster) error {
		for _, m := range c.Status.Members {
			if m.Name == name && !m.Healthy {
				return nil
			}
		}
		return fmt.Errorf("%w: it is not in the status", errNotYet)
	})
}
