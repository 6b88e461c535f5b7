package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxEquivalent is the share of all mutants, in percent, that may be declared
// equivalent.
const MaxEquivalent = 2.0

// checkEquivalents finds entries of policy.yaml that no run can use.
func (r *runner) checkEquivalents() {
	seen := map[Equivalent]bool{}
	for i, e := range r.folder.Policy.Equivalent {
		key := Equivalent{Rule: e.Rule, Mutant: e.Mutant}
		switch _, ok := r.folder.Catalogue.Rule(e.Rule); {
		case !ok:
			r.equivalentProblem(i, fmt.Sprintf("the folder has no rule %q", e.Rule))
		case strings.TrimSpace(e.Proof) == "":
			r.equivalentProblem(i, fmt.Sprintf("mutant %q of rule %s has no proof", e.Mutant, e.Rule))
		case seen[key]:
			r.equivalentProblem(i, fmt.Sprintf("mutant %q of rule %s is there twice", e.Mutant, e.Rule))
		}
		seen[key] = true
	}
}

func (r *runner) equivalentProblem(i int, message string) {
	r.report.Problems = append(r.report.Problems, Problem{
		Kind: KindEquivalent, Rule: r.folder.Policy.Equivalent[i].Rule,
		At: r.folder.source.at("equivalent", strconv.Itoa(i)), Message: message,
	})
}

// applyProofs marks survivors that policy.yaml has a proof for. An entry without
// its survivor is out of date: a case kills the mutant, or the rule changed.
func (r *runner) applyProofs(m *RuleMutation) {
	for i, e := range r.folder.Policy.Equivalent {
		if e.Rule != m.Rule || strings.TrimSpace(e.Proof) == "" {
			continue
		}
		at := slices.IndexFunc(m.Mutants, func(m Mutant) bool { return m.ID == e.Mutant })
		switch {
		case at < 0:
			r.equivalentProblem(i, fmt.Sprintf("rule %s has no mutant %q", e.Rule, e.Mutant))
		case m.Mutants[at].State == Killed:
			r.equivalentProblem(i, fmt.Sprintf("mutant %q of rule %s is killed by %q; take the entry out",
				e.Mutant, e.Rule, m.Mutants[at].KilledBy))
		case m.Mutants[at].State == Survived:
			m.Mutants[at].State, m.Mutants[at].Proof = Proved, e.Proof
		}
	}
}

// TooManyEquivalents reports whether more mutants are declared equivalent than
// MaxEquivalent allows. A part of a folder says nothing of that share.
func (s *MutationSummary) TooManyEquivalents() bool {
	return s != nil && percent(s.Equivalent, s.Mutants) > MaxEquivalent && s.Equivalent > 0
}
