package guard

import "slices"

// Audit is how the members of a cluster and the machines that have a claim to one fit
// together.
type Audit struct {
	// Unknown are the members that no machine explains.
	Unknown []Member
	// Without are the machines that explain no member.
	Without []Machine
}

// AuditOf compares a member list with the approved control planes, those that are being
// deleted too. A machine explains what it has recorded or what is at its place, and
// where neither is listed, the one member of its name, if nobody else has that name or
// a better claim. It may explain two: the member of before, and the one that it is now.
func AuditOf(members []Member, machines []Machine) Audit {
	var a Audit
	explained := map[uint64]bool{}
	for _, m := range machines {
		own := m.explains(members, machines)
		if len(own) == 0 {
			a.Without = append(a.Without, m)
		}
		for _, member := range own {
			explained[member.ID] = true
		}
	}
	a.Unknown = slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return explained[m.ID] })
	return a
}

func (m Machine) explains(members []Member, machines []Machine) []Member {
	if own := matching(members, func(l Member) bool { return m.recorded(l) || m.at(l) }); len(own) > 0 {
		return own
	}
	named := matching(members, m.called)
	if len(named) != 1 || claimed(named[0], machines) {
		return nil
	}
	if bearers := slices.DeleteFunc(slices.Clone(machines), func(o Machine) bool { return !o.called(named[0]) }); len(bearers) != 1 {
		return nil
	}
	return named
}
