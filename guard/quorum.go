package guard

import (
	"fmt"
	"slices"
	"strings"
)

// Quorum is how many of that many voters must agree.
func Quorum(voters int) int { return voters/2 + 1 }

// Count is a cluster in numbers.
type Count struct {
	Voters  int
	Quorum  int
	Healthy int // voters that have started and are healthy
}

func count(members []Member) Count {
	var c Count
	for _, m := range members {
		if m.Learner {
			continue
		}
		c.Voters++
		if m.able() {
			c.Healthy++
		}
	}
	c.Quorum = Quorum(c.Voters)
	return c
}

// Quorate tells whether the voters can commit anything now.
func (c Count) Quorate() bool { return c.Voters > 0 && c.Healthy >= c.Quorum }

// Margin is how many healthy voters more may fail; below 0, how many are missing.
func (c Count) Margin() int { return c.Healthy - c.Quorum }

func (c Count) String() string {
	return fmt.Sprintf("%d of %d voters healthy, quorum %d", c.Healthy, c.Voters, c.Quorum)
}

// Removal is the verdict on a member's removal.
type Removal struct {
	Safe bool
	// Gone is set if the list has no such member: its removal has happened.
	Gone bool
	// Before and After are the cluster with the member and without it.
	Before, After Count
	// Why is one sentence: what was seen, and what has to be healed.
	Why string
}

// MayRemove tells whether the member with this ID may be removed now. A membership
// change commits under the configuration from before it, so it takes a quorum of
// the old voters to remove any member, and a quorum of the new ones to live on.
// Learners and members that never started count for no quorum, but a voter that
// never started counts as one that is missing.
func MayRemove(members []Member, id uint64) Removal {
	target, listed := byID(members, id)
	r := Removal{Before: count(members)}
	if !listed {
		r.After, r.Gone = r.Before, true
		r.Why = "the member is not in the list any more"
		return r
	}
	rest := slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.ID == id })
	r.After = count(rest)
	switch {
	case r.After.Voters == 0:
		r.Why = fmt.Sprintf("%s is the last voter", target.Label())
	case !r.Before.Quorate():
		r.Why = fmt.Sprintf("the cluster has no quorum to agree on it: %s; %s", r.Before, heal(members))
	case !r.After.Quorate():
		r.Why = fmt.Sprintf("without %s the cluster would have no quorum: %s; %s", target.Label(), r.After, heal(rest))
	default:
		r.Safe = true
		r.Why = fmt.Sprintf("%s now, %s without %s", r.Before, r.After, target.Label())
	}
	return r
}

// heal names the voters that are missing.
func heal(members []Member) string {
	var names []string
	for _, m := range members {
		if !m.Learner && !m.able() {
			names = append(names, m.Label())
		}
	}
	if len(names) == 0 {
		return "add a member first"
	}
	return "heal " + strings.Join(names, ", ")
}

// CountOf is a cluster in numbers.
func CountOf(members []Member) Count { return count(members) }
