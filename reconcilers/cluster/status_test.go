package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

func (w *world) writes() (n int) {
	for _, c := range w.calls {
		if strings.HasPrefix(c, "write") || strings.HasPrefix(c, "create") || strings.HasPrefix(c, "update") {
			n++
		}
	}
	return n
}

// A cluster that is as asked is written once, told of once, and looked at in peace.
func TestHealthyCluster(t *testing.T) {
	w := newWorld(t)
	slices.Reverse(w.members)
	if result := w.reconcile(); result.RequeueAfter != usual {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
	w.says("Quorate", "True Quorate: 3 of 3 voters healthy, quorum 2.")
	w.says("Ready", "True AsAsked: Control planes approved: 3. All members of their etcd are healthy voters.")
	w.tells("Normal Quorate: 3 of 3 voters healthy, quorum 2.")
	s := w.cluster().Status
	if s.ClusterID != "c1" || s.ObservedGeneration != 4 || s.Lock != nil {
		t.Errorf("got %+v", s)
	}
	want := []v1alpha1.EtcdMember{
		{Name: "cp-1", ID: "1", Role: "voter", Started: true, Leader: true, Healthy: true},
		{Name: "cp-2", ID: "2", Role: "voter", Started: true, Healthy: true},
		{Name: "cp-3", ID: "3", Role: "voter", Started: true, Healthy: true},
	}
	if !slices.Equal(s.Members, want) {
		t.Errorf("members %+v", s.Members)
	}
	before := w.writes()
	w.after(time.Hour)
	w.reconcile()
	if w.writes() != before {
		t.Errorf("it was written again: %q", w.calls)
	}
	w.tells()
}

func TestMembersAreBounded(t *testing.T) {
	w := newWorld(t)
	w.members = voters(30)
	w.reconcile()
	if n := len(w.cluster().Status.Members); n != maxMembers {
		t.Errorf("%d members", n)
	}
}

// Without a list nobody is called healthy, and the loss is told once.
func TestQuorumIsLostAndComesBack(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.tells("Normal Quorate: 3 of 3 voters healthy, quorum 2.")
	w.viewErr = errors.New("list the members of etcd: context deadline exceeded")
	for range 2 {
		if result := w.reconcile(); result.RequeueAfter != unwell {
			t.Errorf("looked at again after %s", result.RequeueAfter)
		}
	}
	w.says("Quorate", "False NoQuorum: list the members of etcd: context deadline exceeded.")
	w.says("Ready", "False NoQuorum: The etcd cluster gives no member list: list the members of etcd: context deadline exceeded.")
	w.tells("Warning QuorumLost: list the members of etcd: context deadline exceeded.")
	for _, m := range w.cluster().Status.Members {
		if m.Healthy || m.Leader {
			t.Errorf("%+v", m)
		}
	}
	w.viewErr = nil
	w.reconcile()
	w.tells("Normal Quorate: 3 of 3 voters healthy, quorum 2.")
}

// A Secret that breaks is no loss of the quorum.
func TestBundleIsUnusable(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.took()
	w.bundleErr = errBundle
	w.reconcile()
	w.says("Quorate", "Unknown SecretsBundleUnusable: Secret default/quay-talos: the secrets bundle cannot be used: it is empty.")
	w.says("Ready", "False SecretsBundleUnusable: No control plane can be asked: Secret default/quay-talos: the secrets bundle cannot be used: it is empty.")
	w.tells()
	w.bundleErr = errors.New("the API server is away")
	if _, err := w.try(); err == nil || err.Error() != "observe: the API server is away" {
		t.Errorf("got %v", err)
	}
}

// A recorded cluster is never taken for another one, whatever the other one lists.
func TestOtherCluster(t *testing.T) {
	w := newWorld(t)
	w.removed(4)
	w.reconcile()
	w.id = 0xd2
	w.join(9, 4)
	for range 2 {
		w.after(2 * DefaultGrace)
		w.reconcile()
	}
	w.says("Ready", "False OtherCluster: Another etcd cluster answers than the recorded one, and nothing is changed: list: another cluster answers: d2, and not c1. Correct spec.endpoint of the TalosMachines, or the secrets bundle.")
	if s := w.cluster().Status; s.ClusterID != "c1" || len(s.RemovedMembers) != 1 || len(w.removals) != 0 {
		t.Errorf("got %+v, removals %x", s, w.removals)
	}
	if slices.ContainsFunc(w.calls, func(c string) bool { return strings.HasPrefix(c, "lock") || strings.HasPrefix(c, "verify") }) {
		t.Errorf("calls %q", w.calls)
	}
}

// A cluster that is being deleted is left alone.
func TestClusterIsBeingDeleted(t *testing.T) {
	w := newWorld(t)
	c := w.cluster()
	c.Finalizers = []string{"example.com/hold"}
	if err := w.api.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := w.api.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if result := w.reconcile(); result.RequeueAfter != 0 || !slices.Equal(w.calls, []string{"get taloscluster"}) {
		t.Errorf("got %+v, calls %q", result, w.calls)
	}
}

// What was decided on an old object is not written, and not told.
func TestConflict(t *testing.T) {
	w := newWorld(t)
	w.on["write status"] = func() {
		w.edit(func(c *v1alpha1.TalosCluster) { c.Status.RestoreEpoch = 7 })
	}
	if result := w.reconcile(); result.RequeueAfter != soonest {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
	w.tells()
	w.reconcile()
	w.tells("Normal Quorate: 3 of 3 voters healthy, quorum 2.")
	if w.cluster().Status.RestoreEpoch != 7 {
		t.Error("what somebody else wrote is gone")
	}
}

// An intended removal is confirmed by the list, whoever asked for it.
func TestRemovalIsConfirmed(t *testing.T) {
	w := newWorld(t)
	w.removed(4)
	w.edit(func(c *v1alpha1.TalosCluster) { c.Status.RemovedMembers[0].State = v1alpha1.RemovalIntended })
	w.join(4, 4)
	w.put(machine(4))
	w.reconcile()
	if got := w.ledgerText(); got != "cp-4 4@c1 intended [https://192.0.2.4:2380]" {
		t.Errorf("ledger %s", got)
	}
	w.took()
	w.members = slices.DeleteFunc(w.members, func(m guard.Member) bool { return m.ID == 4 })
	w.reconcile()
	w.reconcile()
	if got := w.ledgerText(); got != "cp-4 4@c1 confirmed [https://192.0.2.4:2380]" {
		t.Errorf("ledger %s", got)
	}
	w.tells("Normal MemberRemoved: Etcd member cp-4 is no member any more.")
}
