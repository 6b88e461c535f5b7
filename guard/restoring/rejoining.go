package restoring

import (
	"strings"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// rejoining waits until the recovered etcd lists every control plane, and then sees to
// kubelets that were not wiped, to the own node, and to alarms.
func (t *turn) rejoining() {
	if t.RejoinSince == nil {
		t.RejoinSince = &t.now
	}
	etcd := t.recovered(t.seen)
	if etcd == nil {
		t.unproven()
		return
	}
	t.LeftOutAt = nil
	t.leftMembers(etcd)
	joined := true
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.ControlPlane() && n.Machine != t.Own {
			joined = t.join(n, etcd.Members) && joined
		}
	}
	if !joined || !t.agentsAsked() || !t.ownJoined(etcd.Members) || !t.agentsDone() {
		return
	}
	if t.AlarmsAt == nil {
		t.ask(ActAlarms, t.Target, "")
		return
	}
	t.Done = true
	t.wait("etcd is recovered and every control plane has joined it")
}

// unproven waits for the recovered etcd. If no control plane has data, there is none; if a
// person has left out what it needed, it is given up.
func (t *turn) unproven() {
	if t.forsaken() {
		t.again()
		return
	}
	for _, n := range t.targetFirst() {
		seen := t.seen.Nodes[n.Machine]
		if seen.Mute != "" || seen.Unread != "" || seen.Data {
			t.wait("the recovered etcd on " + t.Target + " does not answer" + ill(t.seen.Nodes[t.Target]))
			return
		}
	}
	t.confirm = true
	t.enter(v1alpha1.StepRecovering)
}

// join tells whether a node is a voter, and wipes it at a limited rate if it cannot
// come by itself: with data of the old cluster, or when Talos has given up.
func (t *turn) join(n *Node, listed []guard.Member) bool {
	members, seen := t.membersOf(listed, *n), t.seen.Nodes[n.Machine]
	switch {
	case voter(members):
		return true
	case seen.Mute != "":
		t.wait(n.Machine + " does not answer, as one that reboots: " + seen.Mute)
	case seen.Unread != "":
		t.wait(n.Machine + " does not say whether it has etcd data: " + seen.Unread)
	case len(members) > 0:
		t.learns(n, seen)
	case seen.Data:
		t.stale(n, seen, t.l.Stale, "it has data of the old etcd and is no member")
	default:
		t.late(n, seen)
	}
	return false
}

func voter(members []guard.Member) bool {
	for _, m := range members {
		if m.Started && !m.Learner {
			return true
		}
	}
	return false
}

// learns wipes a learner that nobody promotes any more, as after a reboot; it counts for
// no quorum, and no other learner can come meanwhile.
func (t *turn) learns(n *Node, seen Seen) {
	if n.ListedAt == nil {
		n.ListedAt = &t.now
	}
	if t.now.Sub(*n.ListedAt) < t.l.Learner {
		t.wait(n.Machine + " joins etcd and is no voter yet")
		return
	}
	t.stale(n, seen, t.l.Learner, "it is no voter after "+t.l.Learner.String())
}

// late wipes a node once it must have given up.
func (t *turn) late(n *Node, seen Seen) {
	if t.now.Sub(*t.RejoinSince) < t.l.Join {
		t.wait(n.Machine + " is to join etcd by itself")
		return
	}
	t.stale(n, seen, t.l.Join, "it has not joined within "+t.l.Join.String())
}

func (t *turn) stale(n *Node, seen Seen, rate time.Duration, why string) {
	again := n.StaleWipeAt != nil && n.BootID == seen.BootID && !n.Answered && t.now.Sub(*n.StaleWipeAt) >= t.l.Doubt
	if n.StaleWipeAt != nil && t.now.Sub(*n.StaleWipeAt) < rate && !again {
		t.wait(n.Machine + " was wiped again at " + clock(*n.StaleWipeAt) + ": " + why)
		return
	}
	n.StaleWipeAt = &t.now
	n.ListedAt = nil
	t.reset(n, why)
	if !again {
		t.extra()
	}
}

// agentsAsked restarts, once, the kubelets of nodes that are not wiped: what they hold
// is of before the rewind. It comes before the own node's wipe, so that the process
// that goes on after it finds kubelets that know it.
func (t *turn) agentsAsked() bool {
	if t.AgentsSince != nil {
		return true
	}
	t.AgentsSince = &t.now
	return !t.kubelets()
}

// kubelets asks for the restarts that are open, and tells whether there are any.
func (t *turn) kubelets() bool {
	open := false
	for _, n := range t.Nodes {
		if !n.ControlPlane() && n.AgentAt == nil {
			t.ask(ActKubelet, n.Machine, "")
			open = true
		}
	}
	return open
}

// agentsDone asks again until the time is over, and then says what did not come of it.
func (t *turn) agentsDone() bool {
	if t.now.Sub(*t.AgentsSince) < t.l.Agents {
		return !t.kubelets()
	}
	var late []string
	for _, n := range t.Nodes {
		if !n.ControlPlane() && n.AgentAt == nil {
			late = append(late, n.Machine)
		}
	}
	if len(late) > 0 && t.AgentWarning == "" {
		t.AgentWarning = "The kubelet of " + strings.Join(late, ", ") + " could not be restarted within " + t.l.Agents.String() +
			": restart it, as it may hold what was before the restore."
	}
	return true
}
