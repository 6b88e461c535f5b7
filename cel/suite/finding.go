package suite

import (
	"fmt"
	"strings"
)

// finding is one thing that a report complains of, for outputs that list nothing
// else.
type finding struct {
	kind string // one of findingKinds
	rule string
	at   Position
	text string
}

// The kinds of findings besides those of problems.
const (
	kindCase     = "case"
	kindCoverage = "coverage"
	kindMutant   = "mutant"
)

// findingKinds explains each kind in the order of a report.
var findingKinds = []struct{ kind, meaning string }{
	{KindFile, "A file of the suite cannot be used."},
	{KindUnknownRule, "A case file names a rule that does not exist."},
	{KindNoCase, "A rule has no case."},
	{KindEquivalent, "An entry of policy.yaml's equivalents is wrong or out of date."},
	{kindCase, "A case got another verdict than it expects, or its rule never fired."},
	{kindCoverage, "A condition of a rule was never true or never false."},
	{kindMutant, "A changed rule passed every case."},
}

func (r *Report) findings() []finding {
	var out []finding
	for _, p := range r.Problems {
		out = append(out, finding{p.Kind, p.Rule, p.At, p.Message})
	}
	for _, c := range r.Cases {
		if !c.Passed {
			out = append(out, finding{kindCase, c.Rule, c.At, c.Name + ": " + strings.Join(c.complaints(), "\n")})
		}
	}
	for _, c := range r.Coverage {
		for _, condition := range c.Conditions {
			if missing := condition.Missing(); missing != "" {
				out = append(out, finding{kindCoverage, c.Rule, condition.At, missing + ": " + condition.Source})
			}
		}
	}
	for _, m := range r.Mutation {
		for _, mutant := range m.Mutants {
			if mutant.State == Survived {
				out = append(out, finding{kindMutant, m.Rule, mutant.At, fmt.Sprintf("survived: %s\n%s", mutant.ID, mutant.Change)})
			}
		}
	}
	return out
}

// complaints lists what failed, each layer's with its name.
func (c CaseResult) complaints() []string {
	out := append([]string{}, c.Failures...)
	for _, l := range c.Layers {
		for _, failure := range l.Failures {
			out = append(out, fmt.Sprintf("%s: %s", l.Layer, failure))
		}
	}
	return out
}

// String prints FILE:LINE:COLUMN, as far as it is known.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
