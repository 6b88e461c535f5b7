package etcd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/guard"
)

// moves are edits of the list that the rules admit, and the controller's death.
func (m sharing) moves(g *gate) (out []sharing) {
	if m.edits > 0 {
		for listed := range set(1 << sources) {
			if listed != m.listed && g.admitsList(m, listed) {
				next := m
				next.listed, next.edits, next.stale = listed, m.edits-1, true
				out = append(out, next)
			}
		}
	}
	if m.step != stepRead {
		out = append(out, m.restart())
	}
	return out
}

func (g *gate) admitsList(m sharing, listed set) bool {
	q := listQuestion{m.listed, listed, m.joined, m.op}
	if answer, known := g.lists[q]; known {
		return answer
	}
	verdict := g.engine.Judge(context.Background(), &cel.Request{
		Operation: cel.Update, Resource: "etcds", Namespace: "plant", Name: "main", OldObject: m.object(m.listed), Object: m.object(listed),
	})
	if verdict.Outcome == cel.RuleError {
		g.t.Fatalf("%+v: %+v", m, verdict)
	}
	g.lists[q] = verdict.Outcome == cel.Allow
	return g.lists[q]
}

type listQuestion struct {
	from, to, joined set
	op               v1alpha1.ScaleOperationType
}

func (m sharing) object(listed set) map[string]any {
	q := question{from: 3, last: 3}
	if m.op != "" {
		q.op = record{m.op, 3, 3}
	}
	o := q.object(3)
	if listed != 0 {
		o["spec"].(map[string]any)["etcd"] = map[string]any{"bootstrapWithExistingCluster": map[string]any{
			"members": entriesOf(listed), "clientEndpoints": []any{"http://src-0:2379"},
		}}
	}
	status := o["status"].(map[string]any)
	if m.joined != 0 {
		status["bootstrapWithExistingClusterMembers"] = entriesOf(m.joined)
	}
	status["conditions"] = append(status["conditions"].([]any), condition(v1alpha1.ConditionBootstrappedWithExistingCluster, "True", v1alpha1.ReasonJoined))
	return o
}

func entriesOf(s set) (out []any) {
	for _, name := range s.names() {
		out = append(out, map[string]any{"name": name, "peerURLs": []any{"http://" + name + ":2380"}})
	}
	return out
}

// converges lets the controller work on: what is left of the source is what spec lists.
func (m sharing) converges(d removals) string {
	m.edits = 0
	m = m.restart()
	for range patience {
		if m.live&m.joined == m.listed&m.live && m.joined&^m.listed == 0 && m.op == "" {
			return ""
		}
		for m, _ = m.act(d); m.step != stepRead; m, _ = m.act(d) {
		}
	}
	return fmt.Sprintf("it never comes to what spec lists, and stays at %+v", m)
}

// exploreSource answers the first broken promise, and how many states there are.
func exploreSource(t *testing.T, d removals, safetyAlone bool) (string, int) {
	t.Helper()
	g := newGate(t)
	all := set(1<<sources - 1)
	seen := map[sharing]bool{}
	queue := []sharing{{listed: all, joined: all, live: all, alien: true, edits: 3}, {listed: all, joined: 3, live: 3, alien: true, edits: 3}}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		next, broken := m.act(d)
		if broken == "" && m.step == stepRead && !safetyAlone {
			broken = m.converges(d)
		}
		if broken != "" {
			return fmt.Sprintf("%s\nat %+v", broken, m), len(seen)
		}
		for _, n := range append(m.moves(g), next) {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return "", len(seen)
}

//
func TestExplorationOfASource(t *testing.T) {
	broken, states := exploreSource(t, removals{guard.BootstrapCandidates, guard.CompareBootstrapRemoval}, false)
	if broken != "" {
		t.Fatal(broken)
	}
	if states < 1000 {
		t.Errorf("%d states are too few", states)
	}
	t.Logf("%d states: only recorded members that are not listed are removed, and each state ends at the list", states)
}

func TestExplorationOfASourceFindsFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		d    removals
		want string
	}{
		"members by name alone": {removals{func(members []guard.Member, joined []guard.Source, listed []string, _ []guard.Own) []guard.Member {
			var out []guard.Member
			for _, m := range members {
				if !strings.HasPrefix(m.Name, "src") {
					out = append(out, m)
				}
			}
			return append(guard.BootstrapCandidates(members, joined, listed, nil), out...)
		}, guard.CompareBootstrapRemoval}, "is no source member"},
		"the list is not looked at": {removals{func(members []guard.Member, joined []guard.Source, _ []string, own []guard.Own) []guard.Member {
			return guard.BootstrapCandidates(members, joined, nil, own)
		}, guard.CompareBootstrapRemoval}, "and it is listed"},
		"the change never goes on": {removals{guard.BootstrapCandidates, func(guard.Sizes, []string, []string) guard.Outcome { return guard.Finish }}, "never comes to what spec lists"},
	} {
		t.Run(name, func(t *testing.T) {
			broken, _ := exploreSource(t, tt.d, !strings.HasPrefix(tt.want, "never"))
			if first, _, _ := strings.Cut(broken, "\n"); !strings.Contains(first, tt.want) {
				t.Errorf("found %q, want %q", first, tt.want)
			}
		})
	}
}
