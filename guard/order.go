package guard

import (
	"cmp"
	"slices"
)

// Order sorts candidates for removal: members that never started or are ill first,
// since nothing depends on them and the margin of the rest rises; then learners,
// then voters, the leader last. Among equals the given order stays.
func Order(candidates []Member) []Member {
	out := slices.Clone(candidates)
	slices.SortStableFunc(out, func(a, b Member) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

func rank(m Member) int {
	switch {
	case !m.Started || !m.Healthy:
		return 0
	case m.Learner:
		return 1
	case m.Leader:
		return 3
	}
	return 2
}

// Next is the candidate that goes next, and the verdict on it: the first in order
// that may go, else the first in order with what stands against it. ok is false if
// there is no candidate.
func Next(members, candidates []Member) (next Member, verdict Removal, ok bool) {
	for i, m := range Order(candidates) {
		v := MayRemove(members, m.ID)
		if v.Safe {
			return m, v, true
		}
		if i == 0 {
			next, verdict = m, v
		}
	}
	return next, verdict, len(candidates) > 0
}

// Successor is the member that leadership moves to before its holder goes: a
// healthy voter that is none of those that leave. ok is false if there is none.
func Successor(members, leaving []Member) (Member, bool) {
	for _, m := range members {
		if _, goes := byID(leaving, m.ID); m.able() && !m.Leader && !goes {
			return m, true
		}
	}
	return Member{}, false
}
