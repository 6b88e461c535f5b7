package restore

import (
	"slices"

	"github.com/quorate/quorate/guard"
)

// member is the node's own in the etcd that its data is of; nil if it was taken out.
func (n *machine) member() *member {
	if n.data == nil {
		return nil
	}
	i := slices.IndexFunc(n.data.members, func(m *member) bool { return m.id == n.id })
	if i < 0 {
		return nil
	}
	return n.data.members[i]
}

// alive tells whether an etcd has a quorum and so takes writes.
func (w *world) alive(l *lineage) bool {
	voters, up := 0, 0
	for _, m := range l.members {
		if m.learner {
			continue
		}
		voters++
		if m.node.up(w.at) && m.node.data == l && m.node.id == m.id && !m.node.idle {
			up++
		}
	}
	return up > voters/2
}

func (w *world) judge() {
	var alive []string
	for _, l := range w.lineages {
		if w.alive(l) {
			alive = append(alive, l.name)
		}
	}
	if len(alive) > 1 {
		w.never("%v take writes at once", alive)
	}
}

// api tells whether any etcd, and so an API server, answers.
func (w *world) api() bool {
	return slices.ContainsFunc(w.lineages, w.alive)
}

func listed(l *lineage) (out []guard.Member) {
	for _, m := range l.members {
		out = append(out, guard.Member{ID: m.id, Name: m.node.name, PeerURLs: []string{"https://" + m.node.address + ":2380"}, Learner: m.learner, Started: true})
	}
	return out
}
