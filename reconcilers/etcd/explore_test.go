package etcd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quorate/quorate/guard"
)

// exploration walks every state that operator, members, failures, crashes and the
// controller can reach together, each a shortest way.
type exploration struct {
	gate  *gate
	d     decisions
	from  map[model]model // the state before
	calm  map[model]bool  // states from which a calm world settles
	limit int
	// safetyAlone leaves out whether a state settles, which a fault may break first.
	safetyAlone bool
}

// start is a new Etcd of a size, with so many edits and failures to come.
func start(size, edits, failures int8) model {
	m := model{spec: size, edits: edits, failures: failures}
	for i := range m.up {
		m.up[i] = true
	}
	return m
}

// run answers the first broken promise and the way to it; empty if there is none.
func (x *exploration) run(first ...model) string {
	queue := first
	for _, m := range first {
		x.from[m] = m
	}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		next, broken := x.d.act(m)
		if broken == "" && torn(m) {
			broken = "founders form two clusters"
		}
		if broken == "" && m.step == stepRead && !x.safetyAlone {
			broken = x.converges(m)
		}
		if broken != "" {
			return broken + "\n" + x.way(m)
		}
		for _, n := range append(x.gate.moves(m), next) {
			if _, known := x.from[n]; known {
				continue
			}
			x.from[n] = m
			if len(x.from) > x.limit {
				return fmt.Sprintf("more than %d states", x.limit)
			}
			queue = append(queue, n)
		}
	}
	return ""
}

// patience is how many cycles a calm world may take.
const patience = 80

// converges lets everything heal, nobody edit and nothing fail: the Etcd must come to
// what its spec asks for.
func (x *exploration) converges(m model) string {
	m.edits, m.failures, m.stalled = 0, 0, false
	for i := range m.up {
		m.up[i] = true
	}
	m = m.restart()
	var passed []model
	for range patience {
		if x.calm[m] || m.settled() {
			for _, p := range passed {
				x.calm[p] = true
			}
			x.calm[m] = true
			return ""
		}
		passed = append(passed, m)
		for next := pods(m); len(next) > 0; next = pods(m) {
			m = next[0]
		}
		for range stepFinish + 1 {
			if m, _ = x.d.act(m); m.step == stepRead {
				break
			}
		}
		m = m.restart()
	}
	return "it never comes to what spec asks for, and stays at " + fmt.Sprintf("%+v", m)
}

// way is how a state is reached.
func (x *exploration) way(m model) string {
	var lines []string
	for {
		lines = append([]string{fmt.Sprintf("%+v", m)}, lines...)
		before := x.from[m]
		if before == m {
			return strings.Join(lines, "\n")
		}
		m = before
	}
}

func explore(t *testing.T, d decisions, safetyAlone bool, limit int, first ...model) (string, int) {
	t.Helper()
	x := &exploration{gate: newGate(t), d: d, from: map[model]model{}, calm: map[model]bool{}, limit: limit, safetyAlone: safetyAlone}
	return x.run(first...), len(x.from)
}

//
func TestExploration(t *testing.T) {
	broken, states := explore(t, product(), false, 20_000_000, start(3, 3, 2), start(1, 3, 2), start(0, 3, 2))
	if broken != "" {
		t.Fatal(broken)
	}
	t.Logf("%d states: no removal costs the quorum or hits a wrong member, no member in use loses pod or volume, each state ends at what spec asks for", states)
}

// TestExplorationFindsFaults exchanges one decision at a time for a wrong one.
func TestExplorationFindsFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*decisions)
		want  string
	}{
		"removals are not weighed": {func(d *decisions) {
			d.next = func(members, candidates []guard.Member) (guard.Member, guard.Removal, bool) {
				m, v, ok := guard.Next(members, candidates)
				v.Safe = true
				return m, v, ok
			}
		}, "costs the quorum"},
		"one member too many goes": {func(d *decisions) {
			d.members = func(members []guard.Member, all []guard.Own, replicas int) []guard.Member {
				return guard.ScaleInCandidates(members, all, max(replicas-1, 1))
			}
		}, "are asked for"},
		"the size is lowered before the members are gone": {func(d *decisions) {
			d.target = func(r guard.Recorded, p guard.Progress) int {
				p.Beyond = false
				return guard.TargetSize(r, p)
			}
		}, "loses its pod"},
		"a change that was taken back stays": {func(d *decisions) {
			d.detect = func(r guard.Recorded) *guard.Operation {
				if r.Operation != nil {
					return r.Operation
				}
				return guard.Detect(r)
			}
		}, "never comes to what spec asks for"},
		"a scale-out ends before all are voters": {func(d *decisions) {
			d.ended = func(r guard.Recorded, p guard.Progress) bool {
				p.Missing, p.Beyond = false, true
				return guard.Ended(r, p)
			}
		}, "never comes to what spec asks for"},
		"waking forgets the change that had not ended": {func(d *decisions) {
			d.target = func(r guard.Recorded, p guard.Progress) int {
				if r.Spec > 0 && r.StatefulSet == 0 {
					return r.Spec
				}
				return guard.TargetSize(r, p)
			}
		}, "never comes to what spec asks for"},
	} {
		t.Run(name, func(t *testing.T) {
			d := product()
			tt.spoil(&d)
			broken, _ := explore(t, d, !strings.HasPrefix(tt.want, "never"), 20_000_000, start(3, 3, 2), start(1, 3, 2))
			if first, _, _ := strings.Cut(broken, "\n"); !strings.Contains(first, tt.want) {
				t.Errorf("found %q, want %q", first, tt.want)
			}
		})
	}
}
