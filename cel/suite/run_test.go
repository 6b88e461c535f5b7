package suite

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
)

const widgetMessage = "replicas cannot be lowered while the widget is busy; wait for status.phase Idle (no-shrink)"

func TestSampleIsComplete(t *testing.T) {
	report := runSample(t, nil, Options{Coverage: true, Mutate: true})
	same(t, printed(t, report, "table"), `ok     no-shrink  13 cases
ok     paint-approved  7 cases
coverage: 100.0%, 22 of 22 sides of 11 conditions
mutation: 100.0%, 47 of 47 mutants killed, 0 survived, 0 equivalent; 0 invalid
20 passed, 0 failed
`)
	if report.Failed() {
		t.Error("the sample must pass")
	}
}

// Each planted fault gives the text that names it.
func TestPlantedFaults(t *testing.T) {
	const head = "rule: no-shrink\ncases:\n"
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"a wrong message": {
			map[string]string{"no-shrink_test.yaml": edited(t, "no-shrink_test.yaml", "while the widget is busy", "while busy")},
			"FAIL   no-shrink  6 of 13 cases failed\n" +
				"  FAIL  widgets/no-shrink_test.yaml:11:3: fewer while busy  (crd deny, webhook deny, vap deny)\n" +
				"      crd: the message differs\n" +
				"        want: replicas cannot be lowered while busy; wait for status.phase Idle (no-shrink)\n" +
				"        got:  " + widgetMessage + "\n",
		},
		"a wrong verdict": {
			map[string]string{"no-shrink_test.yaml": head + "- name: x\n  old: {spec: {replicas: 3, color: red}, status: {phase: Busy}}\n  patch: {spec: {replicas: 1}}\n  expect: allow\n"},
			"  FAIL  widgets/no-shrink_test.yaml:3:3: x  (crd deny, webhook deny, vap deny)\n" +
				"      crd: expected allow, got deny by no-shrink: " + widgetMessage + "\n" +
				"      webhook: expected allow, got deny by no-shrink: " + widgetMessage + "\n" +
				"      vap: expected allow, got deny by no-shrink: " + widgetMessage + "\n",
		},
		"a rule error taken for a denial": {
			map[string]string{
				"no-shrink.yaml":      edited(t, "no-shrink.yaml", "!has(oldSelf.status) || !has(oldSelf.status.phase)\n", "false\n"),
				"no-shrink_test.yaml": head + "- name: x\n  old: {spec: {replicas: 3}}\n  patch: {spec: {replicas: 1}}\n  expect: deny\n  message: no way (no-shrink)\n",
			},
			"      crd: expected deny by no-shrink, got error by no-shrink: no such key: status\n",
		},
		"a rule that never fired": {
			map[string]string{"no-shrink_test.yaml": head + "- name: x\n  new: {spec: {replicas: 3}}\n  expect: allow\n"},
			"  FAIL  widgets/no-shrink_test.yaml:3:3: x  (crd allow, webhook allow, vap allow)\n" +
				"      the rule never fired: it is not evaluated on this request; change the request, or say fires: false\n",
		},
		"a rule that fired all the same": {
			map[string]string{"no-shrink_test.yaml": head + "- name: x\n  old: {spec: {replicas: 3}}\n  patch: {}\n  fires: false\n  expect: allow\n"},
			"      the case says fires: false, but the rule was evaluated\n",
		},
		"a difference between layers that is not stated": {
			map[string]string{"no-shrink_test.yaml": edited(t, "no-shrink_test.yaml", "{verdict: deny, webhook: allow}", "deny")},
			"  FAIL  widgets/no-shrink_test.yaml:54:3: fewer while busy by the controller  (crd deny, webhook allow, vap deny)\n" +
				"      webhook: expected deny by no-shrink, got allow\n",
		},
		"a layer that the case says nothing of": {
			map[string]string{"no-shrink_test.yaml": edited(t, "no-shrink_test.yaml", "{verdict: deny, webhook: allow}", "{crd: deny, webhook: allow}")},
			"      vap: the case says nothing of this layer\n",
		},
		"an objection by another rule": {
			map[string]string{"no-shrink_test.yaml": edited(t, "no-shrink_test.yaml", "{metadata: {labels: {seen: 'yes'}}}", "{spec: {color: blue}}")},
			"      webhook: expected allow, got deny by paint-approved: this color needs the paint verb and an entry in the palette; ask its owner (paint-approved)\n",
		},
		"a further objection": {
			map[string]string{"no-shrink_test.yaml": edited(t, "no-shrink_test.yaml", "{spec: {replicas: 1}}", "{spec: {replicas: 1, color: blue}}")},
			"      webhook: not expected: deny by paint-approved: this color needs the paint verb and an entry in the palette; ask its owner (paint-approved)\n",
		},
		"a rule without a case": {
			map[string]string{"no-shrink_test.yaml": ""},
			"ERROR  widgets/no-shrink.yaml:1:1: rule no-shrink has no case; add widgets/no-shrink_test.yaml\n",
		},
		"a case file without its rule": {
			map[string]string{"gone_test.yaml": "# of another time\nrule: gone\ncases: [{name: x, new: {}, expect: allow}]\n"},
			"ERROR  widgets/gone_test.yaml:2:1: rule: the folder has no rule \"gone\"\n",
		},
		"an unknown field of a case": {
			map[string]string{"no-shrink_test.yaml": head + "- name: x\n  old: {}\n  pacth: {}\n  expect: allow\n"},
			"ERROR  widgets/no-shrink_test.yaml:5:3: unknown field \"cases[0].pacth\"\n",
		},
		"an unknown field of an object": {
			map[string]string{"no-shrink_test.yaml": head + "- name: x\n  old: {spec: {replicas: 3}}\n  patch:\n    spec:\n      replica: 1\n  expect: allow\n"},
			"ERROR  widgets/no-shrink_test.yaml:7:7: new: unknown field \"spec.replica\"\n",
		},
		"a rule file that cannot be read": {
			map[string]string{"no-shrink.yaml": "id: no-shrink\nlayer: [crd]\n"},
			"ERROR  widgets/no-shrink.yaml:2:1: unknown field \"layer\"\n",
		},
		"a rule that does not compile": {
			map[string]string{"no-shrink.yaml": edited(t, "no-shrink.yaml", "'Busy'", "7")},
			"found no matching overload for '_!=_' applied to '(string, int)'",
		},
		"no CRD": {
			map[string]string{"crds/widgets.yaml": ""},
			"ERROR  widgets: no CRD matches [crds/*.yaml] from widgets\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := runSample(t, test.files, Options{})
			if got := printed(t, report, "table"); !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, test.want)
			}
			if !report.Failed() {
				t.Error("the run did not fail")
			}
		})
	}
}

func TestMissingLeafAndSurvivor(t *testing.T) {
	report := runSample(t, map[string]string{
		"paint-approved_test.yaml": edited(t, "paint-approved_test.yaml", "- name: no palette\n  live: {palette: null}\n  expect: deny\n", ""),
	}, Options{Coverage: true, Mutate: true})
	same(t, printed(t, report, "table"), `ok     no-shrink  13 cases
ok     paint-approved  6 cases
COVER  paint-approved  5 conditions, 90.0% covered
  widgets/paint-approved.yaml:7:3: never false: live.palette != null
MUTANT paint-approved  1 of 20 mutants survived
  widgets/paint-approved.yaml:7:3: survived: drop-operand live.palette != null
      …name).check('paint').allowed()[ && live.palette != null -> ] && live.palette.spec.tags.exi…
coverage: 95.5%, 21 of 22 sides of 11 conditions
mutation: 97.9%, 46 of 47 mutants killed, 1 survived, 0 equivalent; 0 invalid
19 passed, 0 failed
`)
}

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
