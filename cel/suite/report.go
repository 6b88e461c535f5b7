package suite

import "github.com/quorate/quorate/cel"

// Report is the outcome of a run, in the order of folders, files and cases.
type Report struct {
	Cases    []CaseResult   `json:"cases"`
	Problems []Problem      `json:"problems,omitempty"`
	Coverage []RuleCoverage `json:"coverage,omitempty"`
	Mutation []RuleMutation `json:"mutation,omitempty"`
	Summary  Summary        `json:"summary"`
}

// Summary counts a report's parts.
type Summary struct {
	Rules    int `json:"rules"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Problems int `json:"problems"`
	// Coverage and Mutation are nil where they were not asked for.
	Coverage *CoverageSummary `json:"coverage,omitempty"`
	Mutation *MutationSummary `json:"mutation,omitempty"`
}

// CoverageSummary counts the sides of all conditions: each should have been true
// and false, so there are two to a condition.
type CoverageSummary struct {
	Sides   int     `json:"sides"`
	Reached int     `json:"reached"`
	Percent float64 `json:"percent"`
}

// MutationSummary counts mutants. Invalid ones do not compile and count nowhere
// else.
type MutationSummary struct {
	Mutants    int     `json:"mutants"`
	Killed     int     `json:"killed"`
	Survived   int     `json:"survived"`
	Equivalent int     `json:"equivalent"`
	Invalid    int     `json:"invalid"`
	Percent    float64 `json:"percent"`
}

// CaseResult is one case's outcome; it passed when nothing failed.
type CaseResult struct {
	Rule   string        `json:"rule"`
	Name   string        `json:"name"`
	At     Position      `json:"at"`
	Passed bool          `json:"passed"`
	Layers []LayerResult `json:"layers"`
	// Failures concern the case as a whole, such as a rule that never fired.
	Failures []string `json:"failures,omitempty"`
}

// LayerResult is one layer's verdict on a case.
type LayerResult struct {
	Layer    cel.Layer   `json:"layer"`
	Verdict  cel.Outcome `json:"verdict"`
	Failures []string    `json:"failures,omitempty"`
}

// Problem is something wrong with the suite itself.
type Problem struct {
	Kind    string   `json:"kind"`
	Rule    string   `json:"rule,omitempty"`
	At      Position `json:"at"`
	Message string   `json:"message"`
}

// The kinds of problems.
const (
	// KindFile is a file that cannot be used.
	KindFile = "file"
	// KindUnknownRule is a case file whose rule does not exist.
	KindUnknownRule = "unknown-rule"
	// KindNoCase is a rule without a case.
	KindNoCase = "no-case"
	// KindEquivalent is a wrong entry in policy.yaml's list of equivalents.
	KindEquivalent = "equivalent"
)

// Failed reports whether a case failed or the suite has a problem.
func (r *Report) Failed() bool { return r.Summary.Failed > 0 || r.Summary.Problems > 0 }

func (r *Report) summarize() {
	rules := map[string]bool{}
	for _, c := range r.Cases {
		rules[c.At.File] = true
		if c.Passed {
			r.Summary.Passed++
		} else {
			r.Summary.Failed++
		}
	}
	r.Summary.Rules = len(rules)
	r.Summary.Problems = len(r.Problems)
	r.Summary.Coverage = summarizeCoverage(r.Coverage)
	r.Summary.Mutation = summarizeMutation(r.Mutation)
}

func summarizeCoverage(rules []RuleCoverage) *CoverageSummary {
	if rules == nil {
		return nil
	}
	s := &CoverageSummary{}
	for _, rule := range rules {
		s.Sides += 2 * len(rule.Conditions)
		s.Reached += rule.reached()
	}
	s.Percent = percent(s.Reached, s.Sides)
	return s
}

func summarizeMutation(rules []RuleMutation) *MutationSummary {
	if rules == nil {
		return nil
	}
	s := &MutationSummary{}
	for _, rule := range rules {
		for _, m := range rule.Mutants {
			s.count(m.State)
		}
	}
	s.Percent = percent(s.Killed+s.Equivalent, s.Mutants)
	return s
}

func (s *MutationSummary) count(state MutantState) {
	if state == Invalid {
		s.Invalid++
		return
	}
	s.Mutants++
	switch state {
	case Killed:
		s.Killed++
	case Survived:
		s.Survived++
	case Proved:
		s.Equivalent++
	}
}

// percent is 100 for nothing of nothing: there is nothing left to reach.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return float64(part) * 100 / float64(whole)
}
