package guarded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// removals is how often a member is removed from a cluster of each size.
const removals = 50

// TestRemovedNeverReturns: a member is removed over and over while its pod restarts
// in a loop, half of the time down at that moment, or killed in it. It is never
// added again before its disk is a new one, and the others go on.
//
func TestRemovedNeverReturns(t *testing.T) {
	for _, size := range []int{3, 5} {
		t.Run(fmt.Sprintf("of %d", size), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, size, size)
			// etcd would not let a victim go that has just joined.
			s.config.Etcd["strict-reconfig-check"] = false
			s.publish()
			s.form()
			storm := &storm{set: s, victim: s.pods[size-1], verdicts: map[string]map[string]int{}}
			for i := range removals {
				storm.round(i)
			}
			t.Logf("%d removals, %d starts refused, none got back in; verdicts by what could be seen:\n%s", removals, storm.refused, storm.shares())
		})
	}
}

type storm struct {
	*set
	victim   *pod
	refused  int
	verdicts map[string]map[string]int // by what could be seen, by verdict and witness
}

// round removes the victim, lets it try, and joins it afresh on a new disk.
func (s *storm) round(i int) {
	s.t.Helper()
	p, survivors := s.victim, s.pods[:len(s.pods)-1]
	id, err := s.ID(s.t.Context(), p.Member)
	must(s.t, err)
	s.remove(p, id, i)

	p.forget()
	p.again()
	s.triesInVain(p, 3)
	p.rest()
	s.voters(survivors...)
	must(s.t, s.Healthy(s.t.Context(), members(survivors)...))
	s.testify(rejoin.ID(id))
	s.neverEnded(survivors)

	must(s.t, p.wipe())
	p.run()
	s.ready(p)
	s.voters(s.pods...)
}

// remove is the controller's part. The victim is down, or runs, or is killed at the
// same moment.
func (s *storm) remove(p *pod, id uint64, i int) {
	s.t.Helper()
	killed := make(chan struct{})
	switch {
	case i%2 == 0:
		p.rest()
		close(killed)
	case i%4 == 1:
		go func() { defer close(killed); p.rest() }()
	default:
		close(killed)
	}
	must(s.t, s.Remove(s.t.Context(), p.Member, id))
	<-killed
}

var errTriesLeft = errors.New("it has not tried often enough")

// triesInVain waits until prepare was refused a number of times. It may have let
// etcd start on a list from before the removal; never once it was refused.
func (s *storm) triesInVain(p *pod, times int) {
	s.t.Helper()
	err := cluster.Until(s.t.Context(), p.Name+" to be refused", func(context.Context) error {
		codes, _ := p.answers()
		refused := 0
		for _, code := range codes {
			if code == agent.ExitPermanentlyRemoved {
				refused++
			}
		}
		if refused < times {
			return fmt.Errorf("%w: %v", errTriesLeft, codes)
		}
		return nil
	})
	must(s.t, err)
	codes, _ := p.answers()
	first := slices.Index(codes, agent.ExitPermanentlyRemoved)
	for _, code := range codes[first:] {
		s.refused++
		if code != agent.ExitPermanentlyRemoved {
			s.t.Errorf("after a refusal prepare answered %d: %v", code, codes)
		}
	}
}

// neverEnded wants members that were started once, and whose etcd has run since.
func (s *storm) neverEnded(survivors []*pod) {
	s.t.Helper()
	for _, p := range survivors {
		if _, starts := p.answers(); starts != 1 {
			log := p.Log()
			s.t.Fatalf("etcd of %s was started %d times, and ended with %v:\n%s", p.Name, starts, p.ends, log[max(0, len(log)-8000):])
		}
	}
}

// seen is what a check can see.
type seen struct {
	name                    string
	list, ledger, tombstone bool
	// must is the exit code that there has to be; 0 leaves it open, since a member
	// that was down has nothing on its disk.
	must int
}

var sights = []seen{
	{"everything", true, true, true, agent.ExitPermanentlyRemoved},
	{"no ledger", true, false, true, agent.ExitPermanentlyRemoved},
	{"no tombstone", true, true, false, agent.ExitPermanentlyRemoved},
	{"no list", false, true, true, agent.ExitPermanentlyRemoved},
	{"no list, no tombstone", false, true, false, agent.ExitPermanentlyRemoved},
	{"no list, no ledger", false, false, true, 0},
	{"no list, no ledger, no tombstone", false, false, false, 0},
}

// testify asks for the verdict on the removed member's disk with witnesses taken
// away, all at once.
func (s *storm) testify(id rejoin.ID) {
	s.t.Helper()
	verdicts := make([]verdict, len(sights))
	group, ctx := errgroup.WithContext(s.t.Context())
	for i, sight := range sights {
		config, dir := fmt.Sprintf("check-%d.yaml", i), s.t.TempDir()
		group.Go(func() (err error) {
			verdicts[i], err = s.victim.check(ctx, dir, config, s.config, sight, id)
			return err
		})
	}
	must(s.t, group.Wait())
	for i, sight := range sights {
		s.judge(sight, verdicts[i])
	}
}

func (s *storm) judge(sight seen, v verdict) {
	if sight.must != 0 && v.ExitCode != sight.must {
		s.t.Errorf("%s: %+v", sight.name, v)
	}
	if v.Action != rejoin.Refuse && (v.Action != rejoin.Start || v.By != rejoin.ByDisk) {
		s.t.Errorf("%s: neither refused nor started for want of a witness: %+v", sight.name, v)
	}
	if s.verdicts[sight.name] == nil {
		s.verdicts[sight.name] = map[string]int{}
	}
	s.verdicts[sight.name][fmt.Sprintf("%s by %s", v.Action, v.By)]++
}

func (s *storm) shares() (text string) {
	for _, sight := range sights {
		text += fmt.Sprintf("%s: %v\n", sight.name, s.verdicts[sight.name])
	}
	return text
}

func members(pods []*pod) (out []*etcdcluster.Member) {
	for _, p := range pods {
		out = append(out, p.Member)
	}
	return out
}
