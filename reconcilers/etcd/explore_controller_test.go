package etcd

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// The steps of the controller. Each is one call that leaves the process, so that the
// world can move, and the controller die, between any two.
const (
	stepRead int8 = iota
	stepDetect
	stepList
	stepRemove
	stepAsk
	stepSync
	stepReplace
	stepFinish
)

// decisions are the product's, exchanged one at a time to see the exploration find it.
type decisions struct {
	detect  func(guard.Recorded) *guard.Operation
	target  func(guard.Recorded, guard.Progress) int
	ended   func(guard.Recorded, guard.Progress) bool
	next    func(members, candidates []guard.Member) (guard.Member, guard.Removal, bool)
	compare func(guard.Sizes, bool) guard.Outcome
	members func([]guard.Member, []guard.Own, int) []guard.Member
}

func product() decisions {
	return decisions{guard.Detect, guard.TargetSize, guard.Ended, guard.Next, guard.CompareScaleIn, guard.ScaleInCandidates}
}

// restart is a cycle that ends here, or a controller that dies here.
func (m model) restart() model {
	m.step, m.read, m.stale, m.seen, m.target = stepRead, 0, false, false, 0
	m.view, m.viewUp = [places]seat{}, [places]bool{}
	return m
}

func (m model) then(step int8) model {
	m.step = step
	return m
}

// act is the controller's next step. What it answers besides is a promise it breaks.
func (d decisions) act(m model) (model, string) {
	switch m.step {
	case stepRead:
		m.read, m.stale = m.spec, false
		return m.then(stepDetect), ""
	case stepDetect:
		return d.detectStep(m), ""
	case stepList:
		return d.listStep(m), ""
	case stepRemove:
		return d.removeStep(m), ""
	case stepAsk:
		return askStep(m)
	case stepSync:
		return d.syncStep(m)
	case stepReplace:
		return replaceStep(m)
	}
	return d.finishStep(m), ""
}

func (d decisions) detectStep(m model) model {
	before := m
	op := d.detect(m.recorded(m.read))
	if m.read > 0 {
		m.last = m.read
	}
	if op == nil {
		m.op = record{}
	} else {
		m.op = record{op.Type, int8(op.From), int8(op.To)} //nolint:gosec // at most 9
	}
	if m.op != before.op {
		m.stalled = false
	}
	if m != before && m.stale {
		return before.restart() // a conflict
	}
	return m.then(stepList)
}

func (d decisions) listStep(m model) model {
	if !m.exists || m.size == 0 || !m.quorate() {
		return m.then(stepRemove)
	}
	if !m.formed && m.stale {
		return m.restart()
	}
	m.formed, m.seen, m.view = true, true, m.seats
	for i := range places {
		m.viewUp[i] = m.runs(i)
	}
	return m.then(stepRemove)
}

// removeStep is the look before a removal: the ledger, the fresh objects, the verdict.
func (d decisions) removeStep(m model) model {
	if m.op.kind != v1alpha1.ScaleIn || m.read == 0 || !m.seen {
		return m.then(stepSync)
	}
	for i, e := range m.ledger {
		if e == intended && m.view[i] == absent {
			m.ledger[i] = confirmed
		}
	}
	if m.stale {
		return m.restart() // the Etcd that is read again is another one
	}
	members := m.members()
	candidates := d.members(members, owns(0, places), int(m.spec))
	if d.compare(guard.Sizes{Spec: int(m.spec), StatefulSet: int(m.size)}, len(candidates) > 0) != guard.Proceed {
		return m.then(stepSync)
	}
	next, verdict, ok := d.next(members, candidates)
	if !ok || !verdict.Safe {
		return m.then(stepSync)
	}
	i := int8(next.ID) - 1 //nolint:gosec // a place
	if m.ledger[i] != intended {
		m.ledger[i], m.belongs = intended, m.read
		return m.restart()
	}
	m.target = i
	return m.then(stepAsk)
}

// askStep asks etcd. Etcd does it if its quorum takes part, and knows no better.
func askStep(m model) (model, string) {
	i := int(m.target)
	broken := ""
	seats := m.view
	voters, healthy := counts(seats, func(j int) bool { return m.viewUp[j] })
	safe := healthy >= guard.Quorum(voters)
	seats[i] = absent
	voters, healthy = counts(seats, func(j int) bool { return m.viewUp[j] })
	safe = safe && voters > 0 && healthy >= guard.Quorum(voters)
	switch {
	case !safe:
		broken = fmt.Sprintf("the removal of member %d costs the quorum", i)
	case m.spec > 0 && i < int(m.spec), m.spec == 0 && i < int(m.last):
		broken = fmt.Sprintf("member %d is removed, and %d are asked for", i, m.spec)
	}
	if m.quorate() && m.seats[i] != absent {
		m.seats[i] = absent
		if m.disks[i] == current {
			m.disks[i] = removed
		}
	}
	return m.restart(), broken
}

// syncStep deletes volumes beyond the size, and sets it.
func (d decisions) syncStep(m model) (model, string) {
	broken := ""
	if m.read > 0 && d.target(m.recorded(m.read), m.progress()) < int(m.size) {
		m.seen = m.quorate() // it looks again
		m.view = m.seats
		for i := range places {
			m.viewUp[i] = m.runs(i)
		}
	}
	p := m.progress()
	size := d.target(m.recorded(m.read), p)
	if m.op.kind == v1alpha1.ScaleIn && m.read > 0 && m.seen && !p.Beyond {
		for i := int(m.read); i < places; i++ {
			if m.seats[i] == voter && m.disks[i] == current {
				broken = fmt.Sprintf("the volume of member %d is deleted", i)
			}
			if m.runs(i) && size > i {
				m.disks[i] = empty // it comes back with its pod
			} else {
				m.disks[i] = noVolume
			}
		}
	}
	if size > 0 && size < int(m.size) {
		for i := size; i < places; i++ {
			if m.seats[i] == voter {
				broken = fmt.Sprintf("member %d loses its pod", i)
			}
		}
	}
	if !m.formed {
		m.told = int8(m.recorded(m.read).Size()) //nolint:gosec // at most 9
	}
	m.exists, m.size = true, int8(size) //nolint:gosec // at most 9
	m.belongs = m.read
	if m.read == 0 {
		m.belongs = int8(m.recorded(m.read).Size()) //nolint:gosec // at most 9
	}
	for i := range size {
		if m.disks[i] == noVolume {
			m.disks[i] = empty
		}
	}
	return m.then(stepReplace), broken
}

// replaceStep gives a place in range whose disk is a removed member's a new one.
func replaceStep(m model) (model, string) {
	if m.seen {
		for i := range min(int(m.read), int(m.size)) {
			if m.disks[i] != removed || m.view[i] != absent || !m.up[i] {
				continue
			}
			broken := ""
			if m.seats[i] == voter {
				broken = fmt.Sprintf("the volume of member %d is deleted", i)
			}
			m.disks[i], m.ledger[i] = empty, unknown
			return m.restart(), broken
		}
	}
	return m.then(stepFinish), ""
}

func (d decisions) finishStep(m model) model {
	before := m
	if d.ended(m.recorded(m.read), m.progress()) {
		m.op, m.stalled = record{}, false
		for i := range places {
			if m.ledger[i] == intended && m.view[i] != absent || m.disks[i] == noVolume {
				m.ledger[i] = unknown
			}
		}
	}
	if m != before && m.stale {
		return before.restart()
	}
	return m.restart()
}
