package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/quorate/quorate/test/cluster"
)

// ruleMark is a rule's ID where every message has it: in parentheses.
var ruleMark = regexp.MustCompile(`\(([a-z]+(?:-[a-z]+)+)\)`)

// Problems holds an answer against what it must be, and answers what is wrong.
func (w Want) Problems(r cluster.Result) []string {
	answer := r.Stdout + r.Stderr
	var problems []string
	if refused := r.Code != 0; refused != w.Refused {
		problems = append(problems, fmt.Sprintf("kubectl ended with exit code %d", r.Code))
	}
	if got, want := RulesIn(answer), slices.Sorted(slices.Values(w.Rules)); !slices.Equal(got, want) {
		problems = append(problems, fmt.Sprintf("the answer names the rules %v, not %v", got, want))
	}
	for _, says := range w.Says {
		if !strings.Contains(answer, says) {
			problems = append(problems, fmt.Sprintf("the answer does not say %q", says))
		}
	}
	// A rule that fails prints its static message too, and would pass for a refusal.
	if strings.Contains(answer, "evaluating rule") || strings.Contains(answer, "could not be evaluated") {
		problems = append(problems, "a rule could not be evaluated")
	}
	return problems
}

// RulesIn answers the rules that a text names, sorted, each once.
func RulesIn(text string) []string {
	var ids []string
	for _, found := range ruleMark.FindAllStringSubmatch(text, -1) {
		ids = append(ids, found[1])
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
