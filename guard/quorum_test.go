package guard

import (
	"fmt"
	"testing"
)

// The kinds of members that a removal can tell apart.
var kinds = []Member{
	{Started: true, Healthy: true},
	{Started: true},
	{},
	{Healthy: true}, // an answer that must not count: it never started
	{Learner: true, Started: true, Healthy: true},
	{Learner: true, Started: true},
	{Learner: true},
}

// mostMembers is the largest cluster that is looked at.
const mostMembers = 7

// clusters calls visit for every cluster of up to mostMembers, up to the numbering
// of like members, which raft does not care about.
func clusters(visit func([]Member)) {
	var grow func(members []Member, from int)
	grow = func(members []Member, from int) {
		if len(members) > 0 {
			visit(members)
		}
		if len(members) == mostMembers {
			return
		}
		for k := from; k < len(kinds); k++ {
			m := kinds[k]
			m.ID = uint64(len(members) + 1)
			m.Name = fmt.Sprintf("m-%d", m.ID)
			grow(append(members[:len(members):len(members)], m), k)
		}
	}
	grow(nil, 0)
}

// targets are one member of each kind in a cluster, and leaders one of each kind
// that can have led, with 0 for none: first the target itself, then another.
func targets(members []Member) (out []uint64) {
	for i, m := range members {
		if i == 0 || kindOf(m) != kindOf(members[i-1]) {
			out = append(out, m.ID)
		}
	}
	return out
}

func kindOf(m Member) [3]bool { return [3]bool{m.Learner, m.Started, m.Healthy} }

func leaders(members []Member, target uint64) []uint64 {
	out := []uint64{0}
	var other bool
	for _, m := range members {
		switch {
		case m.Learner || !m.Started:
		case m.ID == target:
			out = append(out, m.ID)
		case !other:
			other = true
			out = append(out, m.ID)
		}
	}
	return out
}

// TestMayRemoveIsRight compares every verdict on clusters of up to seven members
// with what real raft nodes can commit, before the removal and after it.
//
func TestMayRemoveIsRight(t *testing.T) {
	states, safe := 0, 0
	clusters(func(members []Member) {
		for _, target := range targets(members) {
			for _, leader := range leaders(members, target) {
				for i := range members {
					members[i].Leader = members[i].ID == leader
				}
				got, want := MayRemove(members, target), survives(t, members, target)
				if got.Safe != want {
					t.Fatalf("removal of %d from %+v: safe %t (%s), and raft says %t", target, members, got.Safe, got.Why, want)
				}
				states++
				if want {
					safe++
				}
			}
		}
	})
	t.Logf("%d states, %d of them safe; no unsafe removal is allowed and no safe one refused", states, safe)
	if states < 10_000 || safe == 0 || safe == states {
		t.Errorf("%d states, %d safe: that is no exhaustion", states, safe)
	}
}

// The words of each verdict: what was seen and what to do.
func TestMayRemoveSaysWhy(t *testing.T) {
	up := func(id uint64) Member {
		return Member{ID: id, Name: fmt.Sprintf("main-%d", id), Started: true, Healthy: true}
	}
	down := func(id uint64) Member { m := up(id); m.Healthy = false; return m }
	fresh := func(id uint64) Member {
		return Member{ID: id, PeerURLs: []string{fmt.Sprintf("https://main-%d.example.com:2380", id)}}
	}
	for _, c := range []struct {
		name    string
		members []Member
		target  uint64
		want    Removal
	}{
		{"a healthy one of three", []Member{up(0), up(1), up(2)}, 2,
			Removal{Safe: true, Before: Count{3, 2, 3}, After: Count{2, 2, 2}, Why: "3 of 3 voters healthy, quorum 2 now, 2 of 2 voters healthy, quorum 2 without main-2"}},
		{"a healthy one beside a dead one", []Member{up(0), down(1), up(2)}, 2,
			Removal{Before: Count{3, 2, 2}, After: Count{2, 2, 1}, Why: "without main-2 the cluster would have no quorum: 1 of 2 voters healthy, quorum 2; heal main-1"}},
		{"the dead one of two", []Member{up(0), down(1)}, 1,
			Removal{Before: Count{2, 2, 1}, After: Count{1, 1, 1}, Why: "the cluster has no quorum to agree on it: 1 of 2 voters healthy, quorum 2; heal main-1"}},
		{"beside one that never started", []Member{up(0), up(1), fresh(2)}, 1,
			Removal{Before: Count{3, 2, 2}, After: Count{2, 2, 1}, Why: "without main-1 the cluster would have no quorum: 1 of 2 voters healthy, quorum 2; heal https://main-2.example.com:2380"}},
		{"the last one", []Member{up(0)}, 0, Removal{Before: Count{1, 1, 1}, After: Count{0, 1, 0}, Why: "main-0 is the last voter"}},
		{"gone", []Member{up(0)}, 7, Removal{Gone: true, Before: Count{1, 1, 1}, After: Count{1, 1, 1}, Why: "the member is not in the list any more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := MayRemove(c.members, c.target); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
