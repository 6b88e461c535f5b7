package guard

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Machine is a control plane in the words by which its etcd member can be told.
type Machine struct {
	// Name is the TalosMachine's.
	Name string
	// MemberID and PeerURLs were recorded while the member was healthy; 0 and none
	// before that.
	MemberID uint64
	PeerURLs []string
	// Hosts are addresses of the machine: IP addresses or host names, no ports.
	Hosts []string
	// Hostnames are what it is called, short or with a domain.
	Hostnames []string
}

// MembersOf are the members that are the machine's: the recorded ID, what is at its
// peer URLs or addresses (a node that rebooted after it had left joins again with a new
// ID), and where these find none, the one of its name. What another machine has a
// better claim to is not among them: a replacement may be at the same address.
func MembersOf(members []Member, m Machine, others []Machine) []Member {
	var out []Member
	for _, listed := range members {
		if m.recorded(listed) || m.at(listed) && !claimed(listed, others) {
			out = append(out, listed)
		}
	}
	if len(out) > 0 {
		return out
	}
	named := slices.DeleteFunc(slices.Clone(members), func(listed Member) bool { return !m.called(listed) || claimed(listed, others) })
	if len(named) != 1 || slices.ContainsFunc(others, func(o Machine) bool { return o.called(named[0]) }) {
		return nil
	}
	return named
}

// claimed tells whether the member is another machine's, by its record or its place.
func claimed(listed Member, others []Machine) bool {
	return slices.ContainsFunc(others, func(o Machine) bool { return o.recorded(listed) || o.at(listed) })
}

func (m Machine) recorded(listed Member) bool { return m.MemberID != 0 && listed.ID == m.MemberID }

// at tells whether a peer URL of the member is recorded, or leads to the machine.
func (m Machine) at(listed Member) bool {
	return listed.at(m.PeerURLs) || slices.ContainsFunc(listed.PeerURLs, func(peer string) bool {
		return slices.Contains(m.Hosts, hostOf(peer))
	})
}

// called tells whether the member has the machine's name; etcd's names on Talos are
// short ones.
func (m Machine) called(listed Member) bool {
	return listed.Name != "" && slices.ContainsFunc(m.Hostnames, func(name string) bool {
		return shortName(name) == shortName(listed.Name)
	})
}

func shortName(name string) string {
	if net.ParseIP(name) != nil {
		return name
	}
	short, _, _ := strings.Cut(name, ".")
	return strings.ToLower(short)
}

func hostOf(peer string) string {
	u, err := url.Parse(peer)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
