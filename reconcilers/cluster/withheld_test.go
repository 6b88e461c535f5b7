package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/lease"
)

// Somebody who wrote the cluster between the look and the ledger is heard first.
func TestConflictAtTheLedger(t *testing.T) {
	w := rejoin(t)
	w.on["write status"] = func() { w.edit(func(c *v1alpha1.TalosCluster) { c.Status.RestoreEpoch = 7 }) }
	if result := w.reconcile(); result.RequeueAfter != soonest {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
	w.tells()
	if len(w.removals) > 0 || w.ledgerText() != first {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
	w.settle()
	w.tells(tellOf4, warnOf4, goneIs4)
}

func TestLockIsHeldByAnother(t *testing.T) {
	w := rejoin(t)
	other := w.other("remove talosmachine cp-2")
	for range 2 {
		w.reconcile()
	}
	w.says("Ready", rejoined4+asSoonAsNot+`take the lock of cluster default/quay for "remove rejoined member e4": the lock is held by other for "remove talosmachine cp-2"; unless it is renewed it expires at 2026-03-01T12:02:30Z`+once)
	w.tells(tellOf4, warnOf4)
	if len(w.removals) > 0 || w.ledgerText() != first {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.settle()
}

// A hold that is lost between the ledger and the call ends the act.
func TestLockIsLost(t *testing.T) {
	w := rejoin(t)
	w.on["members cp-1"] = func() {
		w.after(lease.DefaultDuration)
		w.other("remove talosmachine cp-2")
	}
	w.reconcile()
	if len(w.removals) > 0 || w.ledgerText() != intended {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
	w.says("Ready", rejoined4+asSoonAsNot+`it was asked of TalosMachine cp-1: check the lock of cluster default/quay for "remove rejoined member e4": the lock is lost: it was held by quorate-controllers for "remove rejoined member e4", fence 1, and is held by other for "remove talosmachine cp-2", fence 2`+once)
	w.after(lease.DefaultDuration)
	w.settle()
}

// A removal that would cost the quorum waits until it would not.
func TestWithheldForQuorum(t *testing.T) {
	w := rejoin(t)
	ill(&w.members[1])
	ill(&w.members[2])
	w.join(0xe7, 7) // a fifth, which is explained
	w.put(machine(7))
	w.reconcile()
	w.says("Ready", "False MemberUnhealthy: cp-2 is ill: it does not answer; cp-3 is ill: it does not answer. "+
		strings.TrimPrefix(rejoined4, "False UnknownEtcdMember: ")+asSoonAsNot+"without cp-4 the cluster would have no quorum: 2 of 4 voters healthy, quorum 3; heal cp-2, cp-3"+once+
		" Control planes approved: 4, asked for by spec.controlPlane.count: 3. Delete a TalosMachine that is not needed, or raise the count (to 1, 3 or 5) if you mean to grow the cluster.")
	w.tells(tellOf4, warnOf4)
	if len(w.removals) > 0 || w.ledgerText() != first || slices.Contains(w.calls, "lock "+operation4) {
		t.Errorf("removals %x, ledger %s, calls %q", w.removals, w.ledgerText(), w.calls)
	}
	w.members[1].Healthy = true
	w.settle()
}

// What was safe at the first look is judged again under the lock.
func TestQuorumIsLostBeforeTheLock(t *testing.T) {
	w := rejoin(t)
	w.on["create *v1.lease"] = func() { ill(&w.members[1]); ill(&w.members[2]) }
	w.reconcile()
	if len(w.removals) > 0 || w.ledgerText() != first {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
}

func TestOtherClusterUnderTheLock(t *testing.T) {
	w := rejoin(t)
	w.on["create *v1.lease"] = func() { w.id = 0xd2 }
	w.reconcile()
	if len(w.removals) > 0 || w.ledgerText() != first {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
	w.says("Ready", "False OtherCluster: Another etcd cluster answers than the recorded one, and nothing is changed: list: another cluster answers: d2, and not c1. Correct spec.endpoint of the TalosMachines, or the secrets bundle.")
}
