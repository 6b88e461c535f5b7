package suite

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// writeTable prints a report for people: what is wrong in full, the rest in one
// line a rule, and totals at the end.
func writeTable(w io.Writer, r *Report, style Style) error {
	t := table{bufio.NewWriter(w), style}
	for _, p := range r.Problems {
		t.line("%s  %s", t.paint(red, "ERROR"), located(p.At, p.Message))
	}
	t.cases(r.Cases)
	t.coverage(r.Coverage)
	t.mutation(r.Mutation)
	t.totals(r.Summary)
	return t.Flush()
}

type table struct {
	*bufio.Writer
	style Style
}

const (
	red   = "31"
	green = "32"
)

func (t table) paint(color, text string) string {
	if !t.style.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// line writes to a buffer, whose error Flush gives.
func (t table) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func located(at Position, message string) string {
	if at.File == "" {
		return message
	}
	return at.String() + ": " + message
}

// cases groups by rule: cases of a rule follow one another.
func (t table) cases(all []CaseResult) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Rule == all[0].Rule && all[n].At.File == all[0].At.File {
			n++
		}
		t.rule(all[:n])
		all = all[n:]
	}
}

func (t table) rule(cases []CaseResult) {
	failed := 0
	for _, c := range cases {
		if !c.Passed {
			failed++
		}
	}
	if failed == 0 {
		t.line("%s     %s  %s", t.paint(green, "ok"), cases[0].Rule, plural(len(cases), "case"))
	} else {
		t.line("%s   %s  %d of %s failed", t.paint(red, "FAIL"), cases[0].Rule, failed, plural(len(cases), "case"))
	}
	for _, c := range cases {
		if !c.Passed || t.style.Verbose {
			t.oneCase(c)
		}
	}
}

func (t table) oneCase(c CaseResult) {
	mark := t.paint(green, "ok")
	if !c.Passed {
		mark = t.paint(red, "FAIL")
	}
	var verdicts []string
	for _, l := range c.Layers {
		verdicts = append(verdicts, fmt.Sprintf("%s %s", l.Layer, l.Verdict))
	}
	t.line("  %s  %s: %s  (%s)", mark, c.At, c.Name, strings.Join(verdicts, ", "))
	for _, complaint := range c.complaints() {
		t.line("      %s", indent(complaint, "        "))
	}
}

func (t table) coverage(rules []RuleCoverage) {
	for _, c := range rules {
		if c.reached() < 2*len(c.Conditions) || t.style.Verbose {
			t.line("%s  %s  %s, %.1f%% covered", t.mark(c.reached() == 2*len(c.Conditions), "COVER"), c.Rule, plural(len(c.Conditions), "condition"), c.Percent)
		}
		for _, condition := range c.Conditions {
			if missing := condition.Missing(); missing != "" {
				t.line("  %s: %s: %s", condition.At, missing, condition.Source)
			} else if t.style.Verbose {
				t.line("  %s: true %d, false %d: %s", condition.At, condition.True, condition.False, condition.Source)
			}
		}
	}
}

func (t table) mutation(rules []RuleMutation) {
	for _, m := range rules {
		survived := 0
		for _, mutant := range m.Mutants {
			if mutant.State == Survived {
				survived++
			}
		}
		if survived > 0 || t.style.Verbose {
			t.line("%s %s  %d of %s survived", t.mark(survived == 0, "MUTANT"), m.Rule, survived, plural(len(m.Mutants), "mutant"))
		}
		for _, mutant := range m.Mutants {
			t.mutant(mutant)
		}
	}
}

func (t table) mutant(m Mutant) {
	switch {
	case m.State == Survived:
		t.line("  %s: survived: %s\n      %s", m.At, m.ID, m.Change)
	case m.State == Proved:
		t.line("  %s: equivalent: %s\n      proof: %s", m.At, m.ID, condense(m.Proof))
	case m.State == Killed && t.style.Verbose:
		t.line("  %s: killed by %q: %s", m.At, m.KilledBy, m.ID)
	case m.State == Invalid && t.style.Verbose:
		t.line("  %s: invalid: %s", m.At, m.ID)
	}
}

func (t table) mark(good bool, text string) string {
	if good {
		return t.paint(green, text)
	}
	return t.paint(red, text)
}

// totals end with one line that test tooling knows.
func (t table) totals(s Summary) {
	if c := s.Coverage; c != nil {
		t.line("coverage: %.1f%%, %d of %d sides of %s", c.Percent, c.Reached, c.Sides, plural(c.Sides/2, "condition"))
	}
	if m := s.Mutation; m != nil {
		t.line("mutation: %.1f%%, %d of %s killed, %d survived, %d equivalent; %d invalid",
			m.Percent, m.Killed, plural(m.Mutants, "mutant"), m.Survived, m.Equivalent, m.Invalid)
	}
	if s.Problems > 0 {
		t.line("%s", plural(s.Problems, "error"))
	}
	t.line("%d passed, %d failed", s.Passed, s.Failed)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// indent moves all lines but the first to the right.
func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
