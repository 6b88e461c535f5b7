package etcd

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// places is the largest size that is explored.
const places = 3

// seat is a place's member in etcd's list.
type seat uint8

const (
	absent    seat = iota
	unstarted      // a founder that has not started
	learner
	voter
)

// disk is what a place's volume holds.
type disk uint8

const (
	noVolume disk = iota
	empty
	current // the data of the member that is listed, or of one that was never removed
	removed // the data of a removed member
)

// entry is how far the ledger has come for a place's last member.
type entry uint8

const (
	unknown entry = iota
	intended
	confirmed
)

// record is a scale operation, comparable.
type record struct {
	kind     v1alpha1.ScaleOperationType // empty for none
	from, to int8
}

// model is the whole world in one comparable value: what the API server stores, what
// etcd and the disks hold, and where the controller is in its cycle.
type model struct {
	spec    int8 // spec.replicas
	exists  bool // the StatefulSet
	size    int8 // and its replicas
	formed  bool // status.clusterID is recorded
	born    bool // the founders have formed the cluster, whether anybody knows or not
	told    int8 // how many founders the agents are told of
	belongs int8 // ordinals that the agents let join
	last    int8 // status.hibernatedReplicas
	op      record
	stalled bool

	seats [places]seat
	up    [places]bool // the place's pod can run
	disks [places]disk
	// began is the number of founders with which a place's first member was set up.
	began  [places]int8
	ledger [places]entry

	// step is the controller's next one, and what follows is what it has read.
	step     int8
	read     int8 // spec.replicas
	stale    bool // the Etcd was written by somebody since
	seen     bool // a list was read: what follows
	view     [places]seat
	viewUp   [places]bool
	target   int8 // the place whose member is to be removed
	edits    int8 // how many more edits and failures are to come
	failures int8
}

func (m model) runs(i int) bool { return m.exists && i < int(m.size) && m.up[i] }

// counts are those of the listed voters, and of those that take part.
func counts(seats [places]seat, able func(int) bool) (voters, healthy int) {
	for i, s := range seats {
		if s != voter && s != unstarted {
			continue
		}
		voters++
		if s == voter && able(i) {
			healthy++
		}
	}
	return voters, healthy
}

func (m model) quorate() bool {
	voters, healthy := counts(m.seats, m.runs)
	return m.born && voters > 0 && healthy >= guard.Quorum(voters)
}

// recorded is what the product's detection looks at, with the spec as given.
func (m model) recorded(spec int8) guard.Recorded {
	r := guard.Recorded{Spec: int(spec), Exists: m.exists, Formed: m.formed, LastSize: int(m.last)}
	if m.exists {
		r.StatefulSet = int(m.size)
	}
	if m.op.kind != "" {
		r.Operation = &guard.Operation{Type: m.op.kind, From: int(m.op.from), To: int(m.op.to)}
	}
	return r
}

// members are the view in the product's terms.
func (m model) members() []guard.Member {
	var out []guard.Member
	for i, s := range m.view {
		if s == absent {
			continue
		}
		o := own(i)
		out = append(out, guard.Member{
			ID: uint64(i + 1), Name: o.Name, PeerURLs: o.PeerURLs, Learner: s == learner, Started: s != unstarted, Healthy: s != unstarted && m.viewUp[i],
		})
	}
	return out
}

func own(i int) guard.Own {
	name := fmt.Sprintf("main-%d", i)
	return guard.Own{Ordinal: i, Name: name, PeerURLs: []string{"http://" + name + ":2380"}}
}

func owns(from, to int) (out []guard.Own) {
	for i := from; i < to; i++ {
		out = append(out, own(i))
	}
	return out
}

// progress is what the product sees of the recorded change.
func (m model) progress() guard.Progress {
	p := guard.Progress{Seen: m.seen}
	n := min(int(m.read), places)
	for i := n; i < places; i++ {
		p.Remains = p.Remains || m.disks[i] != noVolume || m.exists && i < int(m.size)
	}
	if !m.seen {
		return p
	}
	members := m.members()
	p.Quorate = guard.CountOf(members).Quorate()
	p.Beyond = len(guard.OwnMembers(members, owns(n, places))) > 0
	for i := range min(n, int(m.size)) {
		p.Missing = p.Missing || m.view[i] != voter
	}
	return p
}

// settled tells whether all is as spec asks.
func (m model) settled() bool {
	if m.spec == 0 {
		return m.size == 0
	}
	for i, s := range m.seats {
		if (i < int(m.spec)) != (s == voter) || i >= int(m.spec) && m.disks[i] != noVolume {
			return false
		}
	}
	return m.size == m.spec && m.op.kind == "" && m.formed
}
