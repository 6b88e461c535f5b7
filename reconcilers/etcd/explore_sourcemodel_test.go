package etcd

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// sources is how many members the source has; one more is live that nobody recorded.
const sources = 3

// set is a set of source members, by bits.
type set uint8

func (s set) has(i int) bool { return s&(1<<i) != 0 }

func (s set) names() (out []string) {
	for i := range sources {
		if s.has(i) {
			out = append(out, sourceName(i))
		}
	}
	return out
}

func sourceName(i int) string { return fmt.Sprintf("src-%d", i) }

// sharing is an Etcd whose three members have all joined: what is left of the source, and
// what spec and status say of it.
type sharing struct {
	listed set // spec.bootstrapWithExistingCluster.members; empty: unset
	joined set // status.bootstrapWithExistingClusterMembers
	live   set // the source's members in the live list
	op     v1alpha1.ScaleOperationType
	known  set  // removals that the ledger has
	alien  bool // a member that nobody recorded is in the live list

	step   int8
	read   set
	stale  bool
	seen   set
	target int8
	edits  int8
}

func (m sharing) restart() sharing {
	m.step, m.read, m.stale, m.seen, m.target = stepRead, 0, false, 0, 0
	return m
}

func (m sharing) recorded(listed set) guard.Recorded {
	r := guard.Recorded{Spec: 3, Exists: true, StatefulSet: 3, Formed: true, LastSize: 3, Joined: m.joined.names(), Listed: listed.names()}
	if m.op != "" {
		r.Operation = &guard.Operation{Type: m.op, From: 3, To: 3}
	}
	return r
}

// members are the live list in the product's terms, one of the source's with our name.
func (m sharing) members(live set) []guard.Member {
	var out []guard.Member
	for i := range 3 {
		o := own(i)
		out = append(out, guard.Member{ID: uint64(100 + i), Name: o.Name, PeerURLs: o.PeerURLs, Started: true, Healthy: true})
	}
	for i := range sources {
		if live.has(i) {
			out = append(out, guard.Member{ID: uint64(i + 1), Name: sourceName(i), PeerURLs: []string{"http://" + sourceName(i) + ":2380"}, Started: true, Healthy: true})
		}
	}
	if m.alien {
		out = append(out, guard.Member{ID: 200, Name: "main-0", PeerURLs: []string{"http://elsewhere:2380"}, Started: true, Healthy: true})
	}
	return out
}

func (m sharing) sources(s set) (out []guard.Source) {
	for _, name := range s.names() {
		out = append(out, guard.Source{Name: name, PeerURLs: []string{"http://" + name + ":2380"}})
	}
	return out
}

// removals are the product's decisions, exchanged one at a time to see them found.
type removals struct {
	candidates func([]guard.Member, []guard.Source, []string, []guard.Own) []guard.Member
	compare    func(guard.Sizes, []string, []string) guard.Outcome
}

// act is the controller's next step, and the promise that it breaks.
func (m sharing) act(d removals) (sharing, string) {
	before := m
	m.step++
	switch before.step {
	case stepRead:
		m.read, m.stale = m.listed, false
	case stepDetect:
		m.op = ""
		if op := guard.Detect(m.recorded(m.read)); op != nil {
			m.op = op.Type
		}
		if m.op != before.op && m.stale {
			return before.restart(), ""
		}
	case stepList:
		m.seen = m.live
	case stepRemove:
		return m.remove(d)
	case stepAsk:
		i := int(m.target)
		broken := ""
		switch {
		case i >= sources:
			broken = fmt.Sprintf("member %d is removed, which is no source member", i)
		case m.listed.has(i):
			broken = fmt.Sprintf("source member %d is removed, and it is listed", i)
		case !m.joined.has(i):
			broken = fmt.Sprintf("source member %d is removed, and nobody recorded it", i)
		}
		if i < sources {
			m.live &^= 1 << i
		}
		return m.restart(), broken
	default:
		return m.finish(before), ""
	}
	return m, ""
}

func (m sharing) remove(d removals) (sharing, string) {
	if m.op != v1alpha1.RemoveBootstrapMembers {
		m.step = stepFinish
		return m, ""
	}
	if m.stale {
		return m.restart(), ""
	}
	if d.compare(guard.Sizes{Spec: 3, StatefulSet: 3}, m.joined.names(), m.listed.names()) != guard.Proceed {
		m.step = stepFinish
		return m, ""
	}
	candidates := d.candidates(m.members(m.seen), m.sources(m.joined), m.listed.names(), owns(0, places))
	next, verdict, ok := guard.Next(m.members(m.seen), candidates)
	if !ok || !verdict.Safe {
		m.step = stepFinish
		return m, ""
	}
	i := int8(min(next.ID-1, 99)) //nolint:gosec // at most 99
	if i < sources && !m.known.has(int(i)) {
		m.known |= 1 << i
		return m.restart(), ""
	}
	m.target, m.step = i, stepAsk
	return m, ""
}

// finish prunes the record, and ends the change.
func (m sharing) finish(before sharing) sharing {
	if m.op == v1alpha1.RemoveBootstrapMembers {
		m.joined &= m.seen | m.read
	}
	m.joined |= m.read & m.seen // listed ones that are members come onto it
	if guard.Ended(m.recorded(m.read), guard.Progress{Seen: true, Quorate: true}) {
		m.op, m.known = "", 0
	}
	if m.stale && (m.joined != before.joined || m.op != before.op) {
		return before.restart()
	}
	return m.restart()
}
