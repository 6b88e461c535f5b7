package guard

import (
	"cmp"
	"slices"
)

// Own is a place for a member of an Etcd: one of its ordinals.
type Own struct {
	Ordinal  int
	Name     string
	PeerURLs []string
	// ID is the recorded one of the member that runs there; 0 if there is none.
	ID uint64
}

// is tells whether the member is that of this place: by the recorded ID, else by
// exact name and own peer URL, since a source may have members of our names. A
// member that has not started has no name yet.
func (o Own) is(m Member) bool {
	if o.ID != 0 && m.ID == o.ID {
		return true
	}
	return (m.Name == o.Name || m.Name == "") && m.at(o.PeerURLs)
}

// ScaleInCandidates are the own members with ordinals of at least replicas, the
// highest first. At 0 replicas the cluster hibernates and none is a candidate.
func ScaleInCandidates(members []Member, places []Own, replicas int) []Member {
	if replicas <= 0 {
		return nil
	}
	beyond := slices.DeleteFunc(slices.Clone(places), func(o Own) bool { return o.Ordinal < replicas })
	slices.SortStableFunc(beyond, func(a, b Own) int { return cmp.Compare(b.Ordinal, a.Ordinal) })
	var out []Member
	for _, o := range beyond {
		out = append(out, matching(members, o.is)...)
	}
	return unique(out)
}

// Source is a member of the cluster that was joined, as status or spec name it.
type Source struct {
	Name     string
	PeerURLs []string
}

func (s Source) is(m Member) bool { return m.Name == s.Name && m.at(s.PeerURLs) }

// BootstrapCandidates are the members that are recorded as joined and that the spec
// does not list any more, in the order of the record. Nobody else, ever: no own
// member, and none that nobody recorded.
func BootstrapCandidates(members []Member, joined []Source, listed []string, places []Own) []Member {
	var out []Member
	for _, s := range joined {
		if slices.Contains(listed, s.Name) {
			continue
		}
		out = append(out, matching(members, s.is)...)
	}
	own := func(m Member) bool {
		return slices.ContainsFunc(places, func(o Own) bool { return o.is(m) })
	}
	return slices.DeleteFunc(unique(out), own)
}

func matching(members []Member, is func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return !is(m) })
}

func unique(members []Member) []Member {
	var out []Member
	for _, m := range members {
		if _, have := byID(out, m.ID); !have {
			out = append(out, m)
		}
	}
	return out
}

// OwnMembers are the members of the given places, each once.
func OwnMembers(members []Member, places []Own) []Member {
	var out []Member
	for _, o := range places {
		out = append(out, matching(members, o.is)...)
	}
	return unique(out)
}
