//go:build crash

package etcds

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// lanes is how many clusters are shrunk side by side.
const lanes = 4

// TestCrashMatrix kills the controller before and after each of its calls that change
// something, on the way from 5 to 3 with the leader at the highest ordinal. Dying at a
// read is dying between two of them. Whoever follows ends at three healthy members.
//
//
func TestCrashMatrix(t *testing.T) {
	withoutControllers(t, func() {
		t.Run("lanes", func(t *testing.T) {
			c := &crashes{seen: map[string]bool{}}
			for lane := range lanes {
				t.Run(fmt.Sprint(lane), func(t *testing.T) {
					t.Parallel()
					c.lane(t, lane)
				})
			}
			t.Cleanup(func() { c.report(t) })
		})
	})
}

type crashes struct {
	mu   sync.Mutex
	runs int
	seen map[string]bool
}

func (c *crashes) report(t *testing.T) {
	t.Logf("%d deaths, at %d kinds of calls: %v", c.runs, len(c.seen), slices.Sorted(keysOf(c.seen)))
	for _, want := range []string{
		"remove a member", "move the leader", "delete *v1.PersistentVolumeClaim data-main-3", "delete *v1.PersistentVolumeClaim data-main-4",
		"apply *client.unstructuredApplyConfiguration", "patch status of *v1alpha1.Etcd main",
	} {
		if !c.seen[want] && !t.Failed() {
			t.Errorf("no death at %q", want)
		}
	}
}

func keysOf(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// misses is how many deaths in a row were never reached before a lane ends: one way
// from 5 to 3 takes some calls more than another.
const misses = 2

// lane takes every fourth call, one cluster for all of them.
func (c *crashes) lane(t *testing.T, lane int) {
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	ctx := context.WithoutCancel(t.Context()) // the Etcd is deleted after the test
	stop, err := live(ctx, p.ns, &mortal{at: -1})
	must(t, err)
	t.Cleanup(func() { must(t, stop()) })
	p.create(3)
	for point, missed := lane, 0; missed < misses; point += lanes {
		p.scale(5)
		p.settled(5)
		p.lead(4)
		p.put(fmt.Sprint("before ", point))
		must(t, stop())
		victim := &mortal{at: point / 2, after: point%2 == 1}
		stop, err = live(ctx, p.ns, victim)
		must(t, err)
		p.scale(3)
		reached := p.diesOrSettles(victim)
		must(t, stop())
		stop, err = live(ctx, p.ns, &mortal{at: -1})
		must(t, err)
		p.settled(3)
		p.want(3)
		p.kept()
		if !reached {
			missed++
			continue
		}
		missed = 0
		c.met(victim)
	}
}

func (c *crashes) met(victim *mortal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	c.seen[victim.calls[victim.at]] = true
}

// diesOrSettles tells which of both comes first.
func (p *plant) diesOrSettles(victim *mortal) (died bool) {
	p.t.Helper()
	p.until("the controller's death, or its end of work", func(e *v1alpha1.Etcd) error {
		if died = victim.dead(); died {
			return nil
		}
		return settledAt(e, 3)
	})
	return died
}
