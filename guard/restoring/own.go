package restoring

import (
	"slices"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// ownJoined wipes the own node, last of all: the process that decides this may end with
// it, so the intent is in the state before, and trusted for some time.
func (t *turn) ownJoined(listed []guard.Member) bool {
	own := t.node(t.Own)
	if own == nil || t.OwnDone {
		return true
	}
	seen := t.seen.Nodes[own.Machine]
	asked := t.OwnWipeAt != nil
	same := asked && own.BootID == seen.BootID
	members := t.membersOf(listed, *own)
	switch {
	case voter(members):
		t.OwnDone = true
		return true
	case seen.Mute != "":
		t.wait(own.Machine + " does not answer, as one that reboots: " + seen.Mute)
	case len(members) > 0:
		t.learns(own, seen)
	case !asked && !seen.Data && own.BootID != seen.BootID && t.now.Sub(*t.RejoinSince) < t.l.Join:
		t.wait(own.Machine + " has rebooted since it left and is to join etcd by itself")
	case !asked:
		t.resetOwn(own, "the others have joined, and it is the last")
	case t.now.Sub(*t.OwnWipeAt) < t.l.Repeat, !same && !seen.Data && t.now.Sub(*t.OwnWipeAt) < t.l.Join:
		t.wait(own.Machine + " was wiped at " + clock(*t.OwnWipeAt) + " and is to reboot and to join etcd")
	default:
		t.resetOwn(own, "it has not joined since "+clock(*t.OwnWipeAt))
		if !same {
			t.extra()
		}
	}
	return false
}

func (t *turn) resetOwn(own *Node, why string) {
	t.OwnWipeAt = &t.now
	t.reset(own, why)
}

// Target is the control plane to recover on: the first by name that is not the own one;
// empty if there is none.
func Target(nodes []Node, own string) string {
	var names []string
	for _, n := range nodes {
		if n.ControlPlane() && n.Machine != own {
			names = append(names, n.Machine)
		}
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Concat(names, []string{""})[0]
}

// Rehome is the state for a process on another node than the one that began: while all
// are wiped, the node that it runs on is the one that is spared until the end. Later
// nothing depends on where it runs. here is empty outside the control planes.
func (s State) Rehome(here string) State {
	if s.Step != v1alpha1.StepWiping || s.Own == here {
		return s
	}
	target := s.Target
	if target == here {
		target = Target(s.Nodes, here)
	}
	if target == "" {
		return s
	}
	s.Own, s.Target = here, target
	return s
}
