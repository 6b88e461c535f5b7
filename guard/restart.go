package guard

import (
	"fmt"
	"slices"
)

// MayRestart tells whether the member with this ID may be restarted now: one that
// takes no part in the quorum always, one that does only if the rest has a quorum
// without it. One or two voters have no such rest: there all must be healthy.
func MayRestart(members []Member, id uint64) (safe bool, why string) {
	m, listed := byID(members, id)
	now := count(members)
	switch {
	case !listed || !m.able():
		return true, "it takes no part in the quorum"
	case now.Healthy-1 >= now.Quorum:
		return true, now.String()
	case now.Voters <= 2 && now.Healthy == now.Voters:
		return true, now.String() + ", and so few tolerate no failure"
	}
	rest := slices.DeleteFunc(slices.Clone(members), func(o Member) bool { return o.ID == id })
	return false, fmt.Sprintf("without %s there would be no quorum: %s; %s", m.Label(), now, heal(rest))
}
