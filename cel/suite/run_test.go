package suite

import (
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
