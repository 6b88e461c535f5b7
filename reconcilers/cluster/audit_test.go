package cluster

import (
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

const (
	asAsked   = "True AsAsked: Control planes approved: 3. All members of their etcd are healthy voters."
	isQuorate = "Normal Quorate: 4 of 4 voters healthy, quorum 3."
	stranger5 = "False UnknownEtcdMember: No approved TalosMachine explains etcd member cp-5 at https://192.0.2.5:2380: approve the one of its node, or reset the node."
	tellOf5   = "Warning UnknownEtcdMember: No approved TalosMachine explains etcd member cp-5 at https://192.0.2.5:2380."
)

// A member that no machine explains is told of once, when its grace is over, and is
// never removed.
func TestUnknownMember(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	if result := w.reconcile(); result.RequeueAfter != unwell {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
	w.after(DefaultGrace - time.Second)
	w.reconcile()
	w.says("Ready", asAsked)
	w.tells(isQuorate)
	w.after(time.Second)
	w.reconcile()
	w.says("Ready", stranger5)
	w.tells(tellOf5)
	w.after(time.Hour)
	w.reconcile()
	w.tells()
	if len(w.removals) > 0 || w.ledgerText() != "" {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
}

// The option decides how long the grace is.
func TestGrace(t *testing.T) {
	w := newWorld(t)
	w.r.Grace = time.Second
	w.join(0xe5, 5)
	w.reconcile()
	w.after(time.Second)
	w.reconcile()
	w.says("Ready", stranger5)
}

// Who approves its machine ends it, and one that goes away and comes back has a new
// grace.
func TestUnknownMemberIsExplained(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	m := machine(5)
	m.Spec.Approved = false
	w.put(m)
	w.reconcile()
	w.after(DefaultGrace)
	w.reconcile()
	w.says("Ready", stranger5)
	m.Spec.Approved = true
	w.put(m)
	w.reconcile()
	w.says("Ready", "False ControlPlaneCountDiffers: Control planes approved: 4, asked for by spec.controlPlane.count: 3. Delete a TalosMachine that is not needed, or raise the count (to 1, 3 or 5) if you mean to grow the cluster.")
	m.Spec.Approved = false
	w.put(m)
	w.took()
	w.reconcile()
	w.says("Ready", asAsked)
	w.after(DefaultGrace)
	w.reconcile()
	w.tells(tellOf5)
}

// A list that cannot be read does not begin the grace anew.
func TestGraceGoesOnWithoutList(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	w.reconcile()
	w.viewErr = errList
	w.after(DefaultGrace)
	w.reconcile()
	w.viewErr = nil
	w.took()
	w.reconcile()
	w.says("Ready", stranger5)
}

// A restart takes back no condition and repeats no event; a stranger that comes later
// has its whole grace.
func TestUnknownMemberOverARestart(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	w.reconcile()
	w.after(DefaultGrace)
	w.reconcile()
	w.took()
	w.restart()
	w.join(0xe6, 6)
	w.reconcile()
	w.says("Ready", stranger5)
	w.after(DefaultGrace)
	w.reconcile()
	w.tells("Warning UnknownEtcdMember: No approved TalosMachine explains etcd member cp-6 at https://192.0.2.6:2380.")
}

// What is within its grace at a restart has a whole one after it.
func TestRestartWithinTheGrace(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	w.reconcile()
	w.after(DefaultGrace - time.Second)
	w.restart()
	w.reconcile()
	w.after(DefaultGrace - time.Second)
	w.took()
	w.reconcile()
	w.says("Ready", asAsked)
	w.tells()
	w.after(time.Second)
	w.reconcile()
	w.tells(tellOf5)
}

// An event that could not be written down is told by the cycle that writes it.
func TestUnknownMemberAndConflict(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	w.reconcile()
	w.took()
	w.after(DefaultGrace)
	w.on["write status"] = func() { w.edit(func(c *v1alpha1.TalosCluster) { c.Status.RestoreEpoch = 7 }) }
	w.reconcile()
	w.tells()
	w.reconcile()
	w.tells(tellOf5)
}

// A cluster of the same name that was made anew begins anew.
func TestNamesakeHasItsOwnGrace(t *testing.T) {
	w := newWorld(t)
	w.join(0xe5, 5)
	w.reconcile()
	w.after(DefaultGrace)
	c := w.cluster()
	if err := w.api.Delete(t.Context(), c.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	c.UID, c.ResourceVersion, c.Status = "quay-2", "", v1alpha1.TalosClusterStatus{}
	if err := w.api.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	w.says("Ready", asAsked)
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	if len(w.r.seen.rolls) != 0 {
		t.Errorf("of a cluster that is gone %v is kept", w.r.seen.rolls)
	}
}
