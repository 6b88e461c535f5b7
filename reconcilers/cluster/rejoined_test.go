package cluster

import (
	"fmt"
	"slices"
	"testing"
)

const (
	tellOf4     = "Warning UnknownEtcdMember: No approved TalosMachine explains etcd member cp-4 at https://192.0.2.4:2380."
	warnOf4     = "Warning MemberRejoined: Etcd member cp-4 at https://192.0.2.4:2380 was removed before, has joined again, and is removed again. Reset its node or power it off, else it joins once more."
	goneIs4     = "Normal MemberRemoved: Etcd member cp-4 is no member any more."
	first       = "cp-4 4@c1 confirmed [https://192.0.2.4:2380]"
	intended    = first + ", cp-4 e4@c1 intended [https://192.0.2.4:2380]"
	confirmed   = first + ", cp-4 e4@c1 confirmed [https://192.0.2.4:2380]"
	rejoined4   = "False UnknownEtcdMember: Etcd member cp-4 at https://192.0.2.4:2380 was removed before, has joined again, and is removed again"
	once        = ". Reset its node or power it off, else it joins once more."
	operation4  = "remove rejoined member e4"
	asSoonAsNot = " as soon as nothing stands in the way: "
)

// rejoin has machine 4, which was removed, in etcd again for the whole grace.
func rejoin(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.removed(4)
	w.join(0xe4, 4)
	w.reconcile()
	w.after(DefaultGrace)
	w.took()
	w.calls = nil
	return w
}

// settle looks until the member is gone and its removal confirmed.
func (w *world) settle() {
	w.t.Helper()
	for range 5 {
		w.reconcile()
		if w.ledgerText() == confirmed {
			return
		}
	}
	w.t.Errorf("it does not settle: ledger %s, calls %q", w.ledgerText(), w.calls)
}

// The order of a removal: what is known is read again under the lock, written down, and
// asked of a node that lists the member still.
func TestRejoinedMemberIsRemoved(t *testing.T) {
	w := rejoin(t)
	if result := w.reconcile(); result.RequeueAfter != soonest {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
	want := []string{
		"get taloscluster", "bundle", "machines", "view",
		"lock " + operation4, "get *v1.lease", "create *v1.lease",
		"get taloscluster", "machines", "view", "write status",
		"verify cp-1", "members cp-1", "get *v1.lease", "remove cp-1",
		"get *v1.lease", "update *v1.lease", // given back
		"get *v1.lease", "write status",
	}
	if !slices.Equal(w.calls, want) {
		t.Errorf("calls\ngot  %q\nwant %q", w.calls, want)
	}
	if got := w.ledgerText(); got != intended {
		t.Errorf("ledger %s", got)
	}
	w.tells(tellOf4, warnOf4)
	w.says("Ready", rejoined4+once)
	w.settle()
	w.tells(goneIs4)
	w.says("Ready", asAsked)
	if !slices.Equal(w.removals, []uint64{0xe4}) {
		t.Errorf("removals %x", w.removals)
	}
	if _, err := w.r.Lock(t.Context(), quay, "something else"); err != nil {
		t.Errorf("the lock was not given back: %v", err)
	}
}

// covers: B-8
func TestKilledAtAnyCall(t *testing.T) {
	whole := rejoin(t)
	whole.settle()
	total := len(whole.calls)
	for _, after := range []bool{false, true} {
		for n := 1; n <= total; n++ {
			name := fmt.Sprintf("before %d", n)
			if after {
				name = fmt.Sprintf("after %d", n)
			}
			t.Run(name+" "+whole.calls[n-1], func(t *testing.T) {
				w := rejoin(t)
				w.killAt, w.killAfter = n, after
				for range 5 {
					if _, err := w.try(); err != nil {
						break
					}
				}
				w.restart()
				w.reconcile()
				w.after(DefaultGrace)
				w.settle()
				if !slices.Equal(w.removals, []uint64{0xe4}) {
					t.Errorf("removals %x", w.removals)
				}
				if w.reconcile(); w.ledgerText() != confirmed {
					t.Errorf("ledger %s", w.ledgerText())
				}
			})
		}
	}
}
