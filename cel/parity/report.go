package parity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
)

// Report is what came of a run. Counts are of pairs, if not said otherwise.
type Report struct {
	Pairs uint64
	// Denied and Failed count by rule: pairs on which at least one layer said so.
	Denied, Failed map[string]uint64
	// Excused counts findings by the Difference that leaves them out.
	Excused map[string]uint64
	// Mismatched counts pairs; the first of them are in Mismatches.
	Mismatched uint64
	Mismatches []Mismatch
}

// shown is how many mismatches a report keeps.
const shown = 20

func newReport() *Report {
	return &Report{Denied: map[string]uint64{}, Failed: map[string]uint64{}, Excused: map[string]uint64{}}
}

func (r *Report) judge(ctx context.Context, c Config, rules map[string]*cel.Rule, p Pair) {
	verdicts := map[cel.Layer]cel.Verdict{}
	said := map[string]cel.Outcome{}
	for layer, layered := range c.Layers {
		verdicts[layer] = layered.Judge(ctx, p.Request)
		for _, f := range verdicts[layer].Findings {
			said[f.Rule] = f.Outcome
		}
	}
	for rule, outcome := range said {
		if outcome == cel.Deny {
			r.Denied[rule]++
		} else {
			r.Failed[rule]++
		}
	}
	r.Pairs++
	found := comparison{rules: rules, pair: p, verdicts: verdicts, first: c.First,
		excused: func(d Difference) { r.Excused[d.Name]++ }}.mismatches()
	if len(found) > 0 {
		r.Mismatched++
		r.keep(found)
	}
}

// keep holds the mismatches with the lowest numbers, whoever found them.
func (r *Report) keep(found []Mismatch) {
	r.Mismatches = append(r.Mismatches, found...)
	slices.SortStableFunc(r.Mismatches, func(a, b Mismatch) int { return cmp.Compare(a.Number, b.Number) })
	r.Mismatches = r.Mismatches[:min(len(r.Mismatches), shown)]
}

func (r *Report) merge(other *Report) {
	r.Pairs += other.Pairs
	r.Mismatched += other.Mismatched
	r.keep(other.Mismatches)
	for _, counts := range [][2]map[string]uint64{{r.Denied, other.Denied}, {r.Failed, other.Failed}, {r.Excused, other.Excused}} {
		for name, n := range counts[1] {
			counts[0][name] += n
		}
	}
}

// String prints the counts and what differs, one a line.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d pairs, %d on which layers differ\n", r.Pairs, r.Mismatched)
	for _, part := range []struct {
		title  string
		counts map[string]uint64
	}{{"denied by", r.Denied}, {"failed in", r.Failed}, {"left out by", r.Excused}} {
		for _, name := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(&out, "%s %s: %d\n", part.title, name, part.counts[name])
		}
	}
	for _, m := range r.Mismatches {
		fmt.Fprintln(&out, m)
	}
	return out.String()
}
