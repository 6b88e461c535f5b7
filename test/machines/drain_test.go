package machines

import (
	"context"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A worker is drained and let go; pods of daemonsets and of the machine itself stay, and
// nobody asks it about etcd.
//
// covers: B-9, B-15, B-16
func TestWorker(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 1, workers: 1})
	w := f.talos.Node("worker-1")
	f.deploy("web", w.NodeName())
	f.everywhere("agent")
	f.mirror("static", w.NodeName())
	f.bare("lone", w.NodeName())
	f.delete("worker-1")
	f.gone("worker-1")
	f.off("web", w.NodeName())
	f.off("lone", w.NodeName())
	f.runs("agent", w.NodeName())
	f.runs("static", w.NodeName())
	f.cordoned("worker-1")
	f.went("worker-1", v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonDraining)
	f.told("worker-1", v1alpha1.EventNodeDrained)
	f.warned("worker-1", false)
	if call := aboutEtcd(w); call != "" {
		t.Errorf("a worker was asked for %s", call)
	}
	f.asked()
	f.lists("cp-1")
}

// A budget holds the drain, and the condition names the pod and the budget's words. The
// member stays meanwhile.
//
// covers: B-2, B-16
func TestBudgetHoldsTheDrain(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n := f.talos.Node("cp-3")
	f.deploy("web", n.NodeName())
	f.budget("web")
	f.deploy("free", n.NodeName())
	f.count(1)
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonDraining, f.ns+"/web-", "disruption budget")
	f.until("the other pod to go", func(ctx context.Context) error {
		pods, err := f.on(ctx, "free", n.NodeName())
		if err == nil && len(pods) > 0 {
			err = errNotYet
		}
		return err
	})
	f.nothingHappens()
	f.runs("web", n.NodeName())
	f.unbudget("web")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.went("cp-3", v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonDraining, v1alpha1.ReasonRemovingEtcdMember)
}

// Who moves storage off a node holds the removal by an annotation: no pod goes before
// that is taken away, and the condition names it with the volumes that are attached.
//
// covers: B-2, B-16
func TestStorageIsEvacuatedFirst(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 1, workers: 1})
	w := f.talos.Node("worker-1")
	f.deploy("web", w.NodeName())
	f.attached(w.NodeName())
	f.annotate("worker-1", `"evacuate.quorate.dev/longhorn":"true"`)
	f.delete("worker-1")
	f.removal("worker-1", v1alpha1.ReasonEvacuating, "evacuate.quorate.dev/longhorn", "1 volume", w.NodeName())
	f.stays("web to run", pause, func(ctx context.Context) error {
		pods, err := f.on(ctx, "web", w.NodeName())
		if err == nil && len(pods) != 1 {
			err = errNotYet
		}
		return err
	})
	f.annotate("worker-1", `"evacuate.quorate.dev/longhorn":null`)
	f.gone("worker-1")
	f.off("web", w.NodeName())
	f.went("worker-1", v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonEvacuating, v1alpha1.ReasonDraining)
}
