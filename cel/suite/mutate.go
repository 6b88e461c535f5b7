package suite

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/quorate/quorate/cel"
)

// MutantState is what became of a mutant.
type MutantState string

// The states of a mutant.
const (
	// Killed: at least one case noticed.
	Killed MutantState = "killed"
	// Survived: every case got the verdict that the rule itself gives.
	Survived MutantState = "survived"
	// Proved: it survived, and policy.yaml proves that it changes nothing.
	Proved MutantState = "equivalent"
	// Invalid: it does not compile.
	Invalid MutantState = "invalid"
)

// RuleMutation lists what became of a rule's mutants.
type RuleMutation struct {
	Rule    string   `json:"rule"`
	File    string   `json:"file"`
	Mutants []Mutant `json:"mutants"`
}

// Mutant is a rule with one change.
type Mutant struct {
	// ID is stable as long as the part that it names stays as it is.
	ID         string      `json:"id"`
	State      MutantState `json:"state"`
	At         Position    `json:"at"`
	Expression string      `json:"expression"`
	// Change shows what became of what, with some of the text around it.
	Change string `json:"change"`
	// KilledBy is the first case that noticed.
	KilledBy string `json:"killedBy,omitempty"`
	Proof    string `json:"proof,omitempty"`
}

// workers is how many mutants are judged at a time.
const workers = 2

// mutate judges each mutant of a rule by the rule's own cases.
func (b *bench) mutate(ctx context.Context, w *watcher, place *placer, trials []*trial) (RuleMutation, error) {
	m := RuleMutation{Rule: w.rule.ID, File: w.rule.File, Mutants: mutantsOf(w.tree, place)}
	trials = slices.DeleteFunc(slices.Clone(trials), (*trial).exempt)
	expected := make([]cel.Outcome, len(trials))
	for i, t := range trials {
		expected[i] = outcomeOf(b.whole.Judge(ctx, t.request), w.rule.ID)
	}
	var wait sync.WaitGroup
	next := make(chan *Mutant)
	for range workers {
		wait.Go(func() {
			for mutant := range next {
				try(ctx, b.whole, w.rule, mutant, trials, expected)
			}
		})
	}
	for i := range m.Mutants {
		next <- &m.Mutants[i]
	}
	close(next)
	wait.Wait()
	return m, ctx.Err()
}

func try(ctx context.Context, engine *cel.Engine, rule *cel.Rule, m *Mutant, trials []*trial, expected []cel.Outcome) {
	changed := *rule
	changed.Expression = m.Expression
	mutated, err := engine.WithRule(&changed)
	if err != nil {
		m.State = Invalid
		return
	}
	m.State = Survived
	for i, t := range trials {
		if outcomeOf(mutated.Judge(ctx, t.request), rule.ID) != expected[i] {
			m.State, m.KilledBy = Killed, t.c.Name
			return
		}
	}
}

// outcomeOf gives what one rule says, whatever the others do.
func outcomeOf(v cel.Verdict, rule string) cel.Outcome {
	for _, f := range v.Findings {
		if f.Rule == rule {
			return f.Outcome
		}
	}
	return cel.Allow
}

func mutantsOf(t *tree, place *placer) []Mutant {
	var out []Mutant
	count := map[string]int{}
	for _, c := range changes(t) {
		id := c.operator + " " + abbreviate(t.text(c.at))
		if c.to != "" {
			id += " -> " + c.to
		}
		if count[id]++; count[id] > 1 {
			id = fmt.Sprintf("%s #%d", id, count[id])
		}
		line, column := t.position(c.at.start)
		out = append(out, Mutant{ID: id, At: place.position(line, column), Expression: c.expression,
			Change: t.excerpt(c)})
	}
	return out
}

// maxSource is how much of a part's text an ID carries, in runes.
const maxSource = 72

func abbreviate(text string) string {
	runes := []rune(text)
	if len(runes) <= maxSource {
		return text
	}
	return string(runes[:maxSource-1]) + "…"
}

// excerptMargin is how much an excerpt shows on each side of a change, in runes.
const excerptMargin = 30

// excerpt shows a change as [before -> after] within its surroundings.
func (t *tree) excerpt(c change) string {
	from, to := max(c.start-excerptMargin, 0), min(c.end+excerptMargin, len(t.source))
	text := fmt.Sprintf("%s[%s -> %s]%s", string(t.source[from:c.start]),
		string(t.source[c.start:c.end]), c.text, string(t.source[c.end:to]))
	if from > 0 {
		text = "…" + text
	}
	if to < len(t.source) {
		text += "…"
	}
	return condense(text)
}
