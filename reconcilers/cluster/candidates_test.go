package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/talos"
)

// An approved replacement at the same address is left alone, whatever the ledger says,
// and so is one that is approved in the last moment.
func TestApprovedReplacement(t *testing.T) {
	for _, when := range []string{"before", "under the lock"} {
		t.Run(when, func(t *testing.T) {
			w := rejoin(t)
			if when == "before" {
				w.put(machine(4))
			} else {
				w.on["create *v1.lease"] = func() { w.put(machine(4)) }
			}
			for range 3 {
				w.reconcile()
				w.after(DefaultGrace)
				w.says("Ready", "False ControlPlaneCountDiffers: Control planes approved: 4, asked for by spec.controlPlane.count: 3. Delete a TalosMachine that is not needed, or raise the count (to 1, 3 or 5) if you mean to grow the cluster.")
			}
			if len(w.removals) > 0 || w.ledgerText() != first {
				t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
			}
		})
	}
}

// A replacement that waits for its approval is told of and left alone: who declared its
// machine is to say whether it stays.
func TestReplacementThatWaitsForApproval(t *testing.T) {
	w := rejoin(t)
	m := machine(4)
	m.Spec.Approved = false
	w.put(m)
	for range 3 {
		w.reconcile()
		w.after(DefaultGrace)
		w.says("Ready", "False UnknownEtcdMember: No approved TalosMachine explains etcd member cp-4 at https://192.0.2.4:2380: approve the one of its node, or reset the node.")
	}
	w.tells(tellOf4)
	if len(w.removals) > 0 || w.ledgerText() != first {
		t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
	}
}

// Of two unknown members only the one that the ledger knows goes.
func TestTwoUnknownMembers(t *testing.T) {
	w := newWorld(t)
	w.removed(4)
	w.join(0xe5, 5)
	w.join(0xe4, 4)
	w.reconcile()
	w.after(DefaultGrace)
	w.took()
	w.settle()
	w.says("Ready", stranger5)
	w.tells(tellOf5, tellOf4, warnOf4, goneIs4)
	if !slices.Equal(w.removals, []uint64{0xe4}) {
		t.Errorf("removals %x", w.removals)
	}
}

// Two rejoined members go one after the other, the one that has not started first.
func TestTwoRejoinedMembers(t *testing.T) {
	w := newWorld(t)
	w.removed(4)
	w.removed(5)
	w.join(0xe4, 4)
	w.join(0xe5, 5)
	unstarted(&w.members[4])
	w.reconcile()
	w.after(DefaultGrace)
	w.reconcile()
	if !slices.Equal(w.removals, []uint64{0xe5}) {
		t.Errorf("removals %x", w.removals)
	}
	for range 4 {
		w.reconcile()
	}
	if !slices.Equal(w.removals, []uint64{0xe5, 0xe4}) {
		t.Errorf("removals %x", w.removals)
	}
	w.says("Ready", asAsked)
}

// A node that does not answer is passed over; one that is ill is asked last.
func TestSurvivors(t *testing.T) {
	silence := fmt.Errorf("list the etcd members: %w", talos.ErrUnreachable)
	t.Run("the next one answers", func(t *testing.T) {
		w := rejoin(t)
		ill(&w.members[0])
		w.broken["verify cp-2"] = silence
		w.reconcile()
		asked := slices.DeleteFunc(slices.Clone(w.calls), func(c string) bool { return !strings.Contains(c, " cp-") })
		if want := []string{"verify cp-2", "verify cp-3", "members cp-3", "remove cp-3"}; !slices.Equal(asked, want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
	})
	t.Run("none answers", func(t *testing.T) {
		w := rejoin(t)
		for _, n := range []string{"1", "2", "3"} {
			w.broken["members cp-"+n] = silence
		}
		w.reconcile()
		const text = ": list the etcd members: no answer from the node"
		w.says("Ready", rejoined4+asSoonAsNot+"no approved control plane removes it: TalosMachine cp-1"+text+"; TalosMachine cp-2"+text+"; TalosMachine cp-3"+text+once)
		if len(w.removals) > 0 {
			t.Errorf("removals %x", w.removals)
		}
		clear(w.broken)
		w.settle()
	})
	t.Run("it went meanwhile", func(t *testing.T) {
		w := rejoin(t)
		w.on["members cp-1"] = func() {
			w.members = slices.DeleteFunc(w.members, func(m guard.Member) bool { return m.ID == 0xe4 })
		}
		w.settle()
		if len(w.removals) > 0 {
			t.Errorf("removals %x", w.removals)
		}
	})
	t.Run("the call fails", func(t *testing.T) {
		w := rejoin(t)
		w.broken["remove cp-1"] = errors.New("remove the etcd member: cut")
		w.reconcile()
		w.says("Ready", rejoined4+asSoonAsNot+"it was asked of TalosMachine cp-1: remove the etcd member: cut"+once)
		if slices.Contains(w.calls, "remove cp-2") {
			t.Error("another one was asked before the list was read again")
		}
		clear(w.broken)
		w.settle()
	})
}

// A removal that cannot be written down is not asked for.
func TestLedgerIsFull(t *testing.T) {
	w := newWorld(t)
	w.removed(4)
	w.edit(func(c *v1alpha1.TalosCluster) {
		c.Status.RemovedMembers[0].State = v1alpha1.RemovalIntended
		c.Status.RemovedMembers[0].ClusterID = "c1"
		for n := range 63 {
			c.Status.RemovedMembers = append(c.Status.RemovedMembers, v1alpha1.RemovedMember{
				ID: v1alpha1.HexID(fmt.Sprintf("f%d", n)), ClusterID: "c0", State: v1alpha1.RemovalIntended,
			})
		}
	})
	w.join(4, 4) // still listed, so that its own entry stays intended
	w.join(0xe4, 4)
	w.members[4].PeerURLs = []string{"https://192.0.2.4:2380", "https://198.51.100.4:2380"}
	unstarted(&w.members[4])
	w.reconcile()
	w.after(DefaultGrace)
	w.reconcile()
	if len(w.removals) > 0 {
		t.Errorf("removals %x", w.removals)
	}
	ready := w.cluster().Status.Conditions
	if !slices.ContainsFunc(ready, func(c metav1.Condition) bool {
		return strings.Contains(c.Message, "the ledger of removed members is full, and none of its entries is confirmed")
	}) {
		t.Errorf("got %+v", ready)
	}
}
