package guard

import (
	"fmt"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

func states(l Ledger) (out string) {
	for _, e := range l {
		out += fmt.Sprintf("%s@%s %s; ", e.ID, e.ClusterID, e.State)
	}
	return out
}

func TestLedger(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	var l Ledger
	want := func(what, entries string) {
		t.Helper()
		if got := states(l); got != entries {
			t.Errorf("%s: %q, want %q", what, got, entries)
		}
	}
	intend := func(id, cluster v1alpha1.HexID) {
		t.Helper()
		var ok bool
		if l, ok = l.Intend(id, cluster, "main-2", now); !ok {
			t.Errorf("%s was not added", id)
		}
	}
	intend("a", "c")
	intend("a", "c")
	intend("a", "d")
	want("intended, by both IDs", "a@c intended; a@d intended; ")
	l = l.Confirm("c", []v1alpha1.HexID{"a"}, now)
	want("still listed", "a@c intended; a@d intended; ")
	l = l.Confirm("c", []v1alpha1.HexID{"b"}, now.Add(time.Second))
	want("not listed", "a@c confirmed; a@d intended; ")
	if l[0].At.Unix() != now.Unix()+1 || l[1].At.Unix() != now.Unix() {
		t.Errorf("times %v, %v", l[0].At, l[1].At)
	}
	intend("a", "c")
	want("a confirmed one stays confirmed", "a@c confirmed; a@d intended; ")
	l = l.Withdraw("a", "c").Withdraw("a", "d")
	want("only an intention is withdrawn", "a@c confirmed; ")
	l = l.Prune("a", "d")
	want("pruned by both IDs", "a@c confirmed; ")
	l = l.Prune("a", "c")
	want("pruned", "")
}

// A full ledger loses its oldest confirmed entry, and none that is only intended.
func TestFullLedger(t *testing.T) {
	var l Ledger
	start := time.Unix(1_900_000_000, 0)
	for i := range maxLedger {
		l, _ = l.Intend(v1alpha1.HexID(fmt.Sprintf("%x", i+1)), "c", "", start)
	}
	if full, ok := l.Intend("ff", "c", "", start); ok || len(full) != maxLedger {
		t.Errorf("%d entries, and one was added: %t", len(full), ok)
	}
	l[5].State, l[5].At.Time = v1alpha1.RemovalConfirmed, start.Add(2*time.Hour)
	l[9].State, l[9].At.Time = v1alpha1.RemovalConfirmed, start.Add(time.Hour)
	before := states(l)
	added, ok := l.Intend("ff", "c", "", start)
	if !ok || len(added) != maxLedger || added.index("a", "c") >= 0 || added.index("6", "c") < 0 || added.index("ff", "c") < 0 {
		t.Errorf("%t: %s", ok, states(added))
	}
	if states(l) != before {
		t.Error("the ledger itself was changed")
	}
}
