package restoring

import (
	"fmt"
	"net"

	"github.com/quorate/quorate/guard"
)

// Seen is what one look at a node told.
type Seen struct {
	// Mute says why the node did not answer; empty if it did.
	Mute string
	// BootID is that of the node's running kernel.
	BootID string
	// Data tells whether there is etcd data; Unread says why that is not known.
	Data   bool
	Unread string
	// Etcd is the linearizable answer of the node's member; nil, and Ill says why, if
	// there was none.
	Etcd *Etcd
	Ill  string
	// Service is what the machine API says of etcd where that gave no answer; nil, and
	// Unheard says why, where it was not asked or did not say.
	Service *Service
	Unheard string
}

// Etcd is the answer of a member that has a quorum behind it.
type Etcd struct {
	MemberID uint64
	Revision int64
	Members  []guard.Member
}

// listsItself tells whether the member is a started voter of what it lists.
func (e *Etcd) listsItself() bool {
	for _, m := range e.Members {
		if m.ID == e.MemberID {
			return m.Started && !m.Learner
		}
	}
	return false
}

// Observation is one look at all nodes. Members were asked after the data was read, so
// that who joins in between is not taken for stale.
type Observation struct {
	// Nodes are by machine.
	Nodes map[string]Seen
	// Old is the linearizable list of the old cluster, as another node than the own one
	// gave it; nil if none did.
	Old []guard.Member
}

// recovered is the answer of the recovered etcd: of a member that lists itself, at a
// revision that no other etcd has. Data proves nothing.
func (s State) recovered(seen Observation) *Etcd {
	for _, n := range s.targetFirst() {
		if e := seen.Nodes[n.Machine].Etcd; s.proves(e) {
			return e
		}
	}
	return nil
}

func (s State) proves(e *Etcd) bool {
	return e != nil && s.Floor > 0 && e.Revision >= s.Floor && e.listsItself()
}

func (s State) targetFirst() []Node {
	var first, rest []Node
	for _, n := range s.Nodes {
		switch {
		case !n.ControlPlane():
		case n.Machine == s.Target:
			first = append(first, n)
		default:
			rest = append(rest, n)
		}
	}
	return append(first, rest...)
}

// membersOf are the members of a list that are the node's.
func (s State) membersOf(listed []guard.Member, n Node) []guard.Member {
	var others []guard.Machine
	for _, o := range s.Nodes {
		if o.ControlPlane() && o.Machine != n.Machine {
			others = append(others, o.machine())
		}
	}
	return guard.MembersOf(listed, n.machine(), others)
}

// Unclaimed are the members of a list that none of the nodes stands for.
func Unclaimed(nodes []Node, listed []guard.Member) (out []guard.Member) {
	claimed := map[string]bool{}
	key := func(m guard.Member) string { return fmt.Sprint(m.ID, m.Name, m.PeerURLs) }
	s := State{Nodes: nodes}
	for _, n := range nodes {
		for _, m := range s.membersOf(listed, n) {
			claimed[key(m)] = true
		}
	}
	for _, m := range listed {
		if !claimed[key(m)] {
			out = append(out, m)
		}
	}
	return out
}

// machine leaves the member ID out: it is of before the restore, and a node gets
// another one each time it joins.
func (n Node) machine() guard.Machine {
	m := guard.Machine{Name: n.Machine, PeerURLs: n.PeerURLs, Hosts: []string{n.Host()}}
	if n.NodeName != "" {
		m.Hostnames = []string{n.NodeName}
	}
	return m
}

// Host is the node's address without the port, if it has one.
func (n Node) Host() string { return hostOf(n.Address) }

// hostOf is an address without the port, if it has one.
func hostOf(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
