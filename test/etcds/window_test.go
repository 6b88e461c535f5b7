package etcds

import (
	"slices"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// ids are those of the live members.
func (p *plant) memberIDs() (out []uint64) {
	for _, m := range p.view().Members {
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return out
}

// Two edits that are both admitted before the controller has acted: only what is asked
// for at last counts, and nobody is removed for the first one.
//
//
func TestRevertedInTheWindow(t *testing.T) {
	p := newPlant(t, 3)
	p.put("three")
	before := p.memberIDs()
	withoutControllers(t, func() {
		p.scale(2)
		p.scale(3)
	})
	p.settled(3)
	if after := p.memberIDs(); !slices.Equal(before, after) {
		t.Errorf("members %x, want %x as before", after, before)
	}
	if e := p.get(); len(e.Status.RemovedMembers) != 0 {
		t.Errorf("the ledger has %+v", e.Status.RemovedMembers)
	}
	p.kept()
}

//
func TestReversedInTheWindow(t *testing.T) {
	p := newPlant(t, 3)
	p.put("three")
	before := p.memberIDs()
	withoutControllers(t, func() {
		p.scale(2)
		p.scale(4)
	})
	p.settled(4)
	after := p.memberIDs()
	for _, id := range before {
		if !slices.Contains(after, id) {
			t.Errorf("member %x is gone: %x, then %x", id, before, after)
		}
	}
	p.want(4)
	p.kept()
}

// A change that was recorded and not begun: the edit that takes it back is refused
// from then on, and the change goes on when the controllers are back.
//
//
func TestRevertedAfterTheWindow(t *testing.T) {
	p := newPlant(t, 3)
	up := p.down(0) // what is recorded cannot be done
	p.scale(1)
	p.until("the change to be recorded", func(e *v1alpha1.Etcd) error {
		if e.Status.ScaleOperation == nil || e.Status.ScaleOperation.Type != v1alpha1.ScaleIn {
			return errNotYet
		}
		return nil
	})
	withoutControllers(t, func() {
		if err := p.tryScale(3); err == nil {
			t.Error("going back to 3 was admitted, want a refusal by scale-out-blocked")
		}
	})
	up()
	p.settled(1)
}
