package machines

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/quorate/quorate/test/talos"
)

// rounds is how often each time is taken, and twice as often where none was short enough
// beside what is stuck. The smallest one counts: what else runs on the machine
// adds to some of them, and a stall would add to each.
const rounds = 4

// tick is how often a removal is looked at (reconcilers/machine): a time is one more or
// less by chance.
const tick = 200 * time.Millisecond

// One machine never answers, in the middle of its leave; another one, which nobody
// deletes, is silent too. Workers of the same cluster and of another one are removed as
// quickly as without them.
//
// covers: B-10
func TestStuckMachineBlocksNobody(t *testing.T) {
	f := newFleet(t, plan{controlPlanes: 3, workers: 3*rounds + 1})
	other := newFleet(t, plan{controlPlanes: 1, workers: 3 * rounds})
	alone, otherAlone := f.quickest(1, rounds, 0), other.quickest(1, rounds, 0)
	silent := f.talos.Node(fmt.Sprintf("worker-%d", 3*rounds+1))
	silent.Fault(talos.Silent())
	f.look(silent.Name)
	n := f.talos.Node("cp-3")
	n.Fault(talos.LateLeave(limit))
	f.count(1)
	f.delete("cp-3")
	f.until("cp-3 to be asked to leave", func(context.Context) error {
		if len(f.calls(leave)) == 0 {
			return errNotYet
		}
		return nil
	})
	n.Fault(talos.Silent())
	f.asQuick("of the same cluster", alone)
	other.asQuick("of another cluster", otherAlone)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
}

// quickest removes workers one after the other, from the first on; all that may be, while
// none took as little as is enough.
func (f *fleet) quickest(first, most int, enough time.Duration) time.Duration {
	f.t.Helper()
	best := limit
	for i := range most {
		if i >= rounds && best <= enough {
			break
		}
		best = min(best, f.removalTime(fmt.Sprintf("worker-%d", first+i)))
	}
	return best
}

func (f *fleet) asQuick(of string, alone time.Duration) {
	f.t.Helper()
	most := alone*12/10 + tick
	beside := f.quickest(rounds+1, 2*rounds, most)
	f.t.Logf("a worker %s was removed in %s, and beside a machine that never answers in %s (x %.2f)", of, alone, beside, float64(beside)/float64(alone))
	if beside > most {
		f.t.Errorf("that is more than 1.2 x and a look")
	}
}

// Two control planes are deleted at once, and one of them is silent: the other one is
// removed about as quickly as alone. A stall would take a dial's or a call's deadline,
// seconds at least; what two busy cores add is less than that.
//
// covers: B-10
func TestSilentNodeBesideAnotherRemoval(t *testing.T) {
	const noise = 2 * time.Second
	f := newFleet(t, plan{controlPlanes: 5})
	f.count(3)
	alone := f.removalTime("cp-5")
	f.lists("cp-1", "cp-2", "cp-3", "cp-4")
	f.count(1)
	f.talos.Node("cp-4").Fault(talos.Silent())
	f.delete("cp-4")
	beside := f.removalTime("cp-3")
	t.Logf("a removal took %s, and beside a silent machine's %s (x %.2f)", alone, beside, float64(beside)/float64(alone))
	if beside > alone*12/10+noise {
		t.Errorf("the removal took %s, and %s alone", beside, alone)
	}
	f.gone("cp-4")
	f.lists("cp-1", "cp-2")
	f.askedOnce()
}

// removalTime deletes a machine and answers how long its object was there.
func (f *fleet) removalTime(name string) time.Duration {
	f.t.Helper()
	began := time.Now()
	f.delete(name)
	f.gone(name)
	end := f.story.end(name)
	if end.IsZero() { // the watch is a moment behind
		f.until("the story's end of "+name, func(context.Context) error {
			if end = f.story.end(name); end.IsZero() {
				return fmt.Errorf("%w: it is not told", errNotYet)
			}
			return nil
		})
	}
	return end.Sub(began)
}
