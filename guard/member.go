package guard

import "slices"

// Member is a member of an etcd cluster, from a linearizable list and the status of
// each member.
type Member struct {
	ID       uint64
	Name     string // empty until a member that was added has started
	PeerURLs []string
	Learner  bool
	// Started is set once the member has published client URLs.
	Started bool
	// Healthy is set if the member answers, has a leader and no CORRUPT alarm of its
	// own. NOSPACE is no illness of raft.
	Healthy bool
	Leader  bool
}

// Label is how people are told of the member: by its name, or by its peer URLs
// before it has one. IDs are for logs.
func (m Member) Label() string {
	if m.Name != "" {
		return m.Name
	}
	if len(m.PeerURLs) > 0 {
		return m.PeerURLs[0]
	}
	return "a member without name and peer URLs"
}

// able tells whether the member can take part in a quorum.
func (m Member) able() bool { return !m.Learner && m.Started && m.Healthy }

// at tells whether the member has one of the peer URLs.
func (m Member) at(urls []string) bool {
	return slices.ContainsFunc(m.PeerURLs, func(u string) bool { return slices.Contains(urls, u) })
}

func byID(members []Member, id uint64) (Member, bool) {
	i := slices.IndexFunc(members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return Member{}, false
	}
	return members[i], true
}
