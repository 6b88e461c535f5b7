package suite

import (
	"strings"
	"testing"
)

func TestPrepareProblems(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"an unknown live name": {
			"  new: {spec: {}}\n  live: {pallet: {}}\n",
			"f.yaml:6:10: live.pallet: no rule of widgets reads that",
		},
		"a live list for an object": {
			"  new: {spec: {}}\n  live: {palette: []}\n",
			"f.yaml:6:10: live.palette: want an object",
		},
		"an unknown field of a live object": {
			"  new: {spec: {}}\n  live: {palette: {spec: {tag: a}}}\n",
			`f.yaml:6:27: live.palette: unknown field "spec.tag"`,
		},
		"a layer that does not enforce the rule": {
			"  new: {spec: {}}\n  expect: {verdict: allow, vap: deny, message: m}\n",
			"f.yaml:6:28: expect.vap: rule paint-approved is not enforced there",
		},
	}
	bench, err := newBench(sampleFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	rule, _ := bench.folder.Catalogue.Rule("paint-approved")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := "rule: r\ncases:\n- name: x\n  doc: d\n" + test.body
			if !strings.Contains(text, "expect") {
				text += "  expect: allow\n"
			}
			file, err := parseFile("f.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			_, err = bench.prepare(rule, bench.folder.kinds["widgets"], file.Cases[0])
			if err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestControllerWithoutName(t *testing.T) {
	report := runSample(t, map[string]string{
		"policy.yaml": edited(t, "policy.yaml", "controller: system:serviceaccount:shop:widget-controller\n", ""),
	}, Options{})
	want := "ERROR  widgets/no-shrink_test.yaml:55:3: controller: widgets/policy.yaml names no controller\n"
	if got := printed(t, report, "table"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant first\n%s", got, want)
	}
}
