package restoring

import (
	"fmt"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// wiping takes the own node out of the old etcd and erases all others. The step is over
// when none has data in two looks, one at once after the other: all wipes are through
// then, so that no node that was seen empty has come to the old cluster since.
func (t *turn) wiping() {
	if t.empty() {
		t.confirm = true
		t.enter(v1alpha1.StepRecovering)
	}
}

// empty asks for all that is needed until no etcd but a dead own one is left, and tells
// whether that is so.
func (t *turn) empty() bool {
	if !t.ownLeft() {
		return false
	}
	clean := true
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.ControlPlane() && n.Machine != t.Own {
			clean = t.wipe(n) && clean
		}
	}
	return clean
}

// wipe asks for a node's wipe where that is due, and tells whether it has no data.
func (t *turn) wipe(n *Node) bool {
	seen := t.seen.Nodes[n.Machine]
	asked := n.ResetAt != nil
	same := asked && n.BootID == seen.BootID
	switch {
	case seen.Mute != "":
		t.wait(n.Machine + " does not answer, as one that reboots: " + seen.Mute)
	case seen.Unread != "" && asked:
		t.wait(n.Machine + " does not say whether it has etcd data: " + seen.Unread)
	case !seen.Data && seen.Unread == "":
		if same && t.now.Sub(*n.ResetAt) < t.l.Repeat {
			t.wait(n.Machine + " is being wiped and has yet to reboot")
			return false
		}
		if !asked && n.LeftAt != nil && n.BootID == seen.BootID {
			t.reset(n, "it has left etcd, and joins none before it reboots")
			return false
		}
		return true
	case t.guarded(n) && seen.serves():
		t.unasked(seen)
	case t.guarded(n) && seen.unwitnessed():
		t.unwitnessed(seen)
	case !asked:
		t.reset(n, "")
	case !same:
		t.reset(n, "it has rebooted and has etcd data again")
		t.extra()
	case t.due(*n):
		t.reset(n, "it has not rebooted since "+clock(*n.ResetAt))
	default:
		t.wait(fmt.Sprintf("%s was asked at %s and has etcd data still", n.Machine, clock(*n.ResetAt)))
	}
	return false
}

// guarded tells whether a node's data may be that of the recovered etcd: the target's,
// once all were seen without any.
func (t *turn) guarded(n *Node) bool {
	return t.Step == v1alpha1.StepRecovering && n.Machine == t.Target
}

// due tells whether a wipe that was asked for in the running boot is asked for again. A
// node that wipes already does not take it for another one.
func (t *turn) due(n Node) bool {
	since := t.now.Sub(*n.ResetAt)
	return since >= t.l.Repeat || !n.Answered && since >= t.l.Doubt
}

func (t *turn) reset(n *Node, why string) {
	n.BootID, n.ResetAt, n.Answered = t.seen.Nodes[n.Machine].BootID, &t.now, false
	n.Resets++
	t.ask(ActReset, n.Machine, why)
}

// ownLeft tells whether the own node is no member of a living old etcd, and has it
// leave if it is. Once others were wiped, a node that came back to the old etcd and has
// no quorum there cannot leave: it is stale, and wiped last.
func (t *turn) ownLeft() bool {
	own := t.node(t.Own)
	if own == nil {
		return true
	}
	seen := t.seen.Nodes[own.Machine]
	if t.begun() {
		if seen.Etcd == nil || !seen.Etcd.listsItself() {
			return true
		}
		t.leave(own, "it serves the old etcd")
		return false
	}
	switch {
	case seen.Mute != "":
		t.wait(own.Machine + ", where this controller runs, does not answer: " + seen.Mute)
	case seen.Unread == "" && !seen.Data, t.seen.Old != nil && len(t.membersOf(t.seen.Old, *own)) == 0:
		if own.LeftAt == nil {
			own.LeftAt, own.BootID = &t.now, seen.BootID
		}
		return true
	default:
		t.leave(own, "this controller runs there")
	}
	if t.now.Sub(t.Since) > t.l.Leave {
		t.Failure = fmt.Sprintf("%s, where this controller runs, could not leave etcd within %s, and nothing was wiped.", own.Machine, t.l.Leave)
	}
	return false
}

func (t *turn) leave(own *Node, why string) {
	own.LeftAt, own.BootID = &t.now, t.seen.Nodes[own.Machine].BootID
	t.ask(ActLeave, own.Machine, why)
}

// begun tells whether a wipe was asked for.
func (t *turn) begun() bool {
	for _, n := range t.Nodes {
		if n.ResetAt != nil {
			return true
		}
	}
	return false
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05") }
