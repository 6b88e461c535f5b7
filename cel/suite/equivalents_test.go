package suite

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestEquivalents(t *testing.T) {
	withoutPalette := edited(t, "paint-approved_test.yaml", "- name: no palette\n  live: {palette: null}\n  expect: deny\n", "")
	policy := func(entries string) map[string]string {
		return map[string]string{
			"policy.yaml":              edited(t, "policy.yaml", "version: v1\n", "version: v1\nequivalent:\n"+entries),
			"paint-approved_test.yaml": withoutPalette,
		}
	}
	tests := map[string]struct{ entries, want string }{
		"proved": {
			"- {rule: paint-approved, mutant: 'drop-operand live.palette != null', proof: The palette cannot be deleted.}\n",
			"  widgets/paint-approved.yaml:7:3: equivalent: drop-operand live.palette != null\n      proof: The palette cannot be deleted.\n",
		},
		"without a proof": {
			"- {rule: paint-approved, mutant: 'drop-operand live.palette != null', proof: ' '}\n",
			"ERROR  widgets/policy.yaml:3:3: mutant \"drop-operand live.palette != null\" of rule paint-approved has no proof\n",
		},
		"killed by now": {
			"- {rule: no-shrink, mutant: \"constant 'Busy' -> 'Busy~'\", proof: p}\n",
			"ERROR  widgets/policy.yaml:3:3: mutant \"constant 'Busy' -> 'Busy~'\" of rule no-shrink is killed by \"fewer while busy\"; take the entry out\n",
		},
		"of no mutant": {
			"- {rule: no-shrink, mutant: drop-has has(self.spec), proof: p}\n",
			"ERROR  widgets/policy.yaml:3:3: rule no-shrink has no mutant \"drop-has has(self.spec)\"\n",
		},
		"of no rule": {
			"- {rule: gone, mutant: m, proof: p}\n",
			"ERROR  widgets/policy.yaml:3:3: the folder has no rule \"gone\"\n",
		},
		"twice": {
			strings.Repeat("- {rule: paint-approved, mutant: 'drop-operand live.palette != null', proof: p}\n", 2),
			"ERROR  widgets/policy.yaml:4:3: mutant \"drop-operand live.palette != null\" of rule paint-approved is there twice\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := runSample(t, policy(test.entries), Options{Mutate: true})
			if got := printed(t, report, "table"); !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, test.want)
			}
			if proved := name == "proved"; report.Failed() == proved {
				t.Errorf("failed: %v", report.Failed())
			}
		})
	}
}

func TestTooManyEquivalents(t *testing.T) {
	tests := map[string]struct {
		summary *MutationSummary
		want    bool
	}{
		"not asked for": {nil, false},
		"none":          {&MutationSummary{Mutants: 10}, false},
		"two of 100":    {&MutationSummary{Mutants: 100, Equivalent: 2}, false},
		"three of 149":  {&MutationSummary{Mutants: 149, Equivalent: 3}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.summary.TooManyEquivalents(); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOnlySomeCases(t *testing.T) {
	report := runSample(t, nil, Options{Only: regexp.MustCompile("^no-shrink/fewer while")})
	same(t, printed(t, report, "table"), "ok     no-shrink  3 cases\n3 passed, 0 failed\n")

	none := runSample(t, nil, Options{Only: regexp.MustCompile("nothing is called that")})
	same(t, printed(t, none, "table"), "ERROR  no case was judged\n1 error\n0 passed, 0 failed\n")
}

func TestOneFileOfAFolder(t *testing.T) {
	files := sample(t, map[string]string{"no-shrink_test.yaml": "rule: no-shrink\ncases: []\n"})
	target := Target{Dir: "widgets", Files: []string{"widgets/paint-approved_test.yaml"}}
	report, err := Run(context.Background(), files, []Target{target}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, printed(t, report, "table"), "ok     paint-approved  7 cases\n7 passed, 0 failed\n")
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, sample(t, nil), []Target{{Dir: "widgets"}}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
