package restore

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// world is a cluster of Talos nodes with etcd as a model, in virtual time. It moves on
// when it is asked for something, event by event in their order, and judges each event
// by what must never be.
type world struct {
	mu    sync.Mutex
	nodes []*machine
	at    time.Time
	store *shelf
	// lineages are all etcds that ever were: the first is the old one.
	lineages []*lineage
	faults   []string // what must never be, and was
	lastID   uint64
	// mismatch is how many recoveries end with a hash that does not match.
	mismatch int
	alarms   []string
	wipes    int
}

// lineage is an etcd: members, and whether it came of the snapshot.
type lineage struct {
	name      string
	recovered bool
	revision  int64
	members   []*member
}

type member struct {
	id      uint64
	node    *machine
	learner bool
}

// machine is a node: a control plane, or a worker.
type machine struct {
	name, address string
	role          v1alpha1.MachineRole
	boot          int
	upAt          time.Time
	// data is the etcd that the data directory is of; junk is data without any.
	data *lineage
	junk bool
	id   uint64
	// wipeAt, recoverAt and promoteAt are to come.
	wipeAt, recoverAt, promoteAt, joinAt time.Time
	// resetAfter is the time until a wipe acts, rebootFor that of a reboot.
	resetAfter, rebootFor time.Duration
	uploaded              []byte
	idle                  bool // it has left, and etcd is stopped until a reboot
	kubelets              int
	silent                bool // it never answers
	deaf                  bool // it answers a reset and does nothing
	shut                  bool // nobody gets to its etcd
	onDown                func()
	// says are the answers to calls of a name, one after the other; nil is a call that acts.
	says map[string][]error
}

const (
	stepJoin    = 3 * time.Second
	stepPromote = 9 * time.Second
	stepRecover = 4 * time.Second
	stepReady   = 2 * time.Second
	oldRevision = 5000
	floor       = 1_000_000_000
)

// never notes what must never be.
func (w *world) never(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *world) node(name string) *machine {
	i := slices.IndexFunc(w.nodes, func(n *machine) bool { return n.name == name || n.address == name })
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

// advance plays all that happens until now.
func (w *world) advance() {
	now := time.Now()
	for {
		n, at, event := w.first(now)
		if n == nil {
			break
		}
		w.at = at
		event(n)
		w.judge()
	}
	w.at = now
}

// first is the earliest event until now.
func (w *world) first(now time.Time) (who *machine, when time.Time, what func(*machine)) {
	for _, n := range w.nodes {
		for _, e := range []struct {
			at time.Time
			do func(*machine)
		}{{n.wipeAt, w.wiped}, {n.recoverAt, w.recovers}, {n.promoteAt, w.promotes}, {n.joinAt, w.joins}} {
			if !e.at.IsZero() && !e.at.After(now) && (who == nil || e.at.Before(when)) {
				who, when, what = n, e.at, e.do
			}
		}
	}
	return who, when, what
}

func (n *machine) up(at time.Time) bool { return !n.silent && !at.Before(n.upAt) }

// wiped: the data is erased and the node reboots.
func (w *world) wiped(n *machine) {
	if !w.store.whole(PinnedName) && !slices.ContainsFunc(w.store.desks, (*shelfDesk).whole) {
		w.never("%s is wiped and no verified snapshot is at hand", n.name)
	}
	w.wipes++
	n.data, n.junk, n.uploaded = nil, false, nil
	w.reboots(n, n.rebootFor)
}

func (w *world) reboots(n *machine, down time.Duration) {
	n.boot++
	n.upAt = w.at.Add(down)
	n.wipeAt, n.recoverAt, n.promoteAt, n.idle = time.Time{}, time.Time{}, time.Time{}, false
	n.joinAt = n.upAt.Add(stepJoin)
	if n.onDown != nil {
		n.onDown()
	}
}

// recovers: what was uploaded becomes an etcd of one member, if it is what it should be.
func (w *world) recovers(n *machine) {
	n.recoverAt = time.Time{}
	switch {
	case n.data != nil || n.junk:
	case w.mismatch > 0 || string(n.uploaded) != plaintext:
		w.mismatch--
		n.junk, n.uploaded = true, nil
	default:
		w.lastID++
		l := &lineage{name: fmt.Sprintf("recovered %d", len(w.lineages)), recovered: true, revision: floor}
		l.members = []*member{{w.lastID, n, false}}
		n.data, n.id, n.uploaded = l, w.lastID, nil
		w.lineages = append(w.lineages, l)
	}
}

// recovered has a node be the recovered etcd's only member.
func (w *world) recovered(name string) {
	n := w.node(name)
	l := &lineage{name: "recovered", recovered: true, revision: floor + 7, members: []*member{{1, n, false}}}
	w.lineages = append(w.lineages, l)
	n.data, n.id = l, 1
}

// joins: an empty node takes its old member out of whichever etcd answers, and comes as
// a learner.
func (w *world) joins(n *machine) {
	n.joinAt = time.Time{}
	if n.role == v1alpha1.MachineWorker || n.data != nil || n.junk || n.idle || !n.recoverAt.IsZero() {
		return
	}
	n.joinAt = w.at.Add(stepJoin)
	for _, l := range w.lineages {
		if !w.alive(l) || slices.ContainsFunc(l.members, func(m *member) bool { return m.learner && m.node != n }) {
			continue
		}
		l.members = slices.DeleteFunc(l.members, func(m *member) bool { return m.node == n })
		w.lastID++
		l.members = append(l.members, &member{w.lastID, n, true})
		n.data, n.id, n.joinAt, n.promoteAt = l, w.lastID, time.Time{}, w.at.Add(stepPromote)
		return
	}
}

func (w *world) promotes(n *machine) {
	n.promoteAt = time.Time{}
	if n.data == nil || !w.alive(n.data) {
		n.promoteAt = w.at.Add(stepPromote)
		return
	}
	if m := n.member(); m != nil {
		m.learner = false
		n.data.revision++
	}
}
