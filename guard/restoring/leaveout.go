package restoring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// ErrLeaveOut: the machines that were named cannot be left out.
var ErrLeaveOut = errors.New("it cannot be done without")

// LeaveOut has the restore do without machines from here on: they are neither wiped nor
// waited for. Each is named by its machine, its Node or its address, with or without a
// port; one that was left out before may be named again. One control plane has to stay.
// Where the target goes and etcd is not recovered yet, another one is recovered on.
func (s State) LeaveOut(names []string, now time.Time) (State, error) {
	s.Nodes, s.LeftOut = slices.Clone(s.Nodes), slices.Clone(s.LeftOut)
	for _, name := range names {
		found := Named(s.Nodes, name)
		switch {
		case len(found) == 0 && len(Named(s.LeftOut, name)) > 0:
			continue
		case len(found) > 1:
			return s, fmt.Errorf("%w: %s may be any of %d machines. The restore is about %s", ErrLeaveOut, name, len(found), s.names())
		case len(found) == 0:
			return s, fmt.Errorf("%w: nobody knows a machine %s. The restore is about %s", ErrLeaveOut, name, s.names())
		case !s.Nodes[found[0]].ControlPlane():
			return s, fmt.Errorf("%w: %s is a worker, which has no etcd. It is waited for a few minutes at most", ErrLeaveOut, name)
		case len(s.targetFirst()) == 1:
			return s, fmt.Errorf("%w: %s is the last control plane, and etcd has to be recovered on one", ErrLeaveOut, name)
		}
		s = s.without(found[0], now)
	}
	return s, nil
}

// without takes one machine out. Its member ID is of before the restore, and says nothing.
func (s State) without(i int, now time.Time) State {
	gone := s.Nodes[i]
	gone.MemberID = 0
	s.Nodes, s.LeftOut = slices.Delete(s.Nodes, i, i+1), append(s.LeftOut, gone)
	if gone.Machine == s.Own {
		s.Own, s.OwnWipeAt, s.OwnDone = "", nil, false
	}
	wiping := s.Step == v1alpha1.StepWiping || s.Step == v1alpha1.StepRecovering
	if !wiping {
		s.LeftOutAt = &now
	}
	if gone.Machine != s.Target {
		return s
	}
	s.BootstrapAt, s.BootstrapBoot, s.BootstrapOK, s.UploadBoot = nil, "", false, ""
	if s.Target = Target(s.Nodes, s.Own); s.Target == "" { // the own one alone is left
		s.Target, s.Own = s.Own, ""
	}
	return s
}

func (s State) names() string {
	var out []string
	for _, n := range s.Nodes {
		out = append(out, n.Machine+" ("+n.Address+")")
	}
	return strings.Join(out, ", ")
}

// Named are the indexes of the nodes that a name is of: of its machine or its Node, its
// address, or else the address but for the port.
func Named(nodes []Node, name string) (found []int) {
	for _, is := range []func(Node) bool{
		func(n Node) bool { return slices.Contains([]string{n.Machine, n.NodeName, n.Address}, name) },
		func(n Node) bool { return n.Host() == name || n.Address == hostOf(name) },
	} {
		for i, n := range nodes {
			if name != "" && is(n) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// forsaken tells whether the recovered etcd is given up: a machine was left out while the
// others rejoined, and since then none of those that stay has answered with a quorum, or
// runs a healthy etcd by its machine API. Each of them has to answer for that.
func (t *turn) forsaken() bool {
	if t.LeftOutAt == nil || t.now.Sub(*t.LeftOutAt) < t.l.Grace {
		return false
	}
	return !slices.ContainsFunc(t.targetFirst(), func(n Node) bool {
		seen := t.seen.Nodes[n.Machine]
		return seen.Mute != "" || seen.Unread != "" || seen.Etcd != nil || seen.Data && (seen.Service == nil || seen.Service.Healthy)
	})
}

// again begins anew with those that stay: what has data of the etcd that is given up is
// wiped, the own node last.
func (t *turn) again() {
	t.LeftOutAt, t.OwnWipeAt, t.OwnDone = nil, nil, false
	t.BootstrapAt, t.UploadBoot = nil, ""
	t.Step, t.confirm = v1alpha1.StepWiping, true
	t.wait("the etcd that was recovered has no quorum without what was left out; it is recovered again on " + t.Target)
}

// leftMembers keeps which of the machines that were left out are members of the recovered
// etcd, as one that had joined it before, and waits for a person to remove them while they
// may keep others from joining.
func (t *turn) leftMembers(etcd *Etcd) {
	t.LeftOut = slices.Clone(t.LeftOut)
	for i := range t.LeftOut {
		n := &t.LeftOut[i]
		n.MemberID = 0
		for _, m := range t.membersOf(etcd.Members, *n) {
			n.MemberID = m.ID
			t.wait(fmt.Sprintf("%s was left out and is member %016x of the recovered etcd still: where it keeps others from joining, remove it (talosctl -n %s etcd remove-member %016x)",
				n.Machine, m.ID, t.node(t.Target).Host(), m.ID))
		}
	}
}
