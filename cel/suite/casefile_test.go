package suite

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/quorate/quorate/cel"
)

func TestCaseFileProblems(t *testing.T) {
	const head = "rule: r\ncases:\n"
	tests := map[string]struct{ text, want string }{
		"empty file":            {"", "f.yaml:1:1: the file is empty"},
		"no cases":              {"rule: r\n", "f.yaml:1:1: cases: the list is empty"},
		"an empty list":         {"rule: r\ncases: []\n", "f.yaml:2:1: cases: the list is empty"},
		"no rule":               {"cases:\n- {name: a, new: {}, expect: allow}\n", "f.yaml:1:1: rule: the rule's ID is missing"},
		"unknown field":         {"rule: r\nruel: x\ncases:\n- {name: a, new: {}, expect: allow}\n", `f.yaml:2:1: unknown field "ruel"`},
		"defaults with a name":  {"rule: r\ndefaults: {name: a}\ncases:\n- {name: a, new: {}, expect: allow}\n", "f.yaml:2:12: defaults.name: belongs to a case"},
		"defaults with fires":   {"rule: r\ndefaults: {fires: false}\ncases:\n- {name: a, new: {}, expect: allow}\n", "f.yaml:2:12: defaults.fires: belongs to a case"},
		"no name":               {head + "- {new: {}, expect: allow}\n", "f.yaml:3:3: name: a case needs a name"},
		"a name twice":          {head + "- {name: a, new: {}, expect: allow}\n- {name: a, new: {}, expect: allow}\n", `f.yaml:4:4: name: "a" is there twice`},
		"no expectation":        {head + "- {name: a, new: {}}\n", "f.yaml:3:3: expect: a case needs an expected verdict"},
		"no such verdict":       {head + "- {name: a, new: {}, expect: denied}\n", "f.yaml:3:22: expect: denied is no verdict; want allow, deny, error or skip"},
		"no verdict of a layer": {head + "- {name: a, new: {}, expect: {crd: 7}}\n", "f.yaml:3:31: expect.crd: 7 is no verdict; want allow, deny, error or skip"},
		"unknown layer":         {head + "- {name: a, new: {}, expect: {gate: deny}}\n", `f.yaml:3:31: unknown field "expect.gate"`},
		"a layer in a layer":    {head + "- {name: a, new: {}, expect: {crd: {vap: deny}}}\n", `f.yaml:3:37: unknown field "expect.crd.vap"`},
		"a denial without text": {head + "- {name: a, new: {}, expect: deny}\n", "f.yaml:3:22: message: deny needs the exact text"},
		"an error without text": {head + "- name: a\n  new: {}\n  expect: {verdict: allow, vap: error}\n", "f.yaml:5:28: message: error needs the exact text"},
		"a wrong also":          {head + "- {name: a, new: {}, expect: {verdict: allow, also: x}}\n", "f.yaml:3:47: expect.also: want a list"},
		"a wrong message":       {head + "- {name: a, new: {}, expect: {verdict: allow, message: 7}}\n", "f.yaml:3:47: expect.message: want a string"},
		"unknown subresource":   {head + "- {name: a, new: {}, subresource: logs, expect: allow}\n", `f.yaml:3:22: subresource: "logs" is unknown; want status or scale`},
		"unknown operation":     {head + "- {name: a, new: {}, operation: PATCH, expect: allow}\n", `f.yaml:3:22: operation: "PATCH" is unknown; want CREATE, UPDATE or DELETE`},
		"no object":             {head + "- {name: a, expect: allow}\n", "f.yaml:3:3: old: the case has no object"},
		"old alone":             {head + "- {name: a, old: {}, expect: allow}\n", "f.yaml:3:3: operation: old alone is no request; add new or patch, or say operation: DELETE"},
		"update of nothing":     {head + "- {name: a, operation: UPDATE, new: {}, expect: allow}\n", "f.yaml:3:13: operation: UPDATE needs old, and new or patch"},
		"deletion of nothing":   {head + "- {name: a, operation: DELETE, new: {}, expect: allow}\n", "f.yaml:3:13: operation: DELETE needs old"},
		"creation of nothing":   {head + "- {name: a, operation: CREATE, patch: {}, expect: allow}\n", "f.yaml:3:13: operation: CREATE needs new, or old to take the object from"},
		"two requesters":        {head + "- {name: a, new: {}, controller: true, user: {name: b}, expect: allow}\n", "f.yaml:3:40: user: controller: true already says who asks"},
		"a wrong type":          {head + "- {name: a, new: [], expect: allow}\n", "f.yaml:3:18: cases[0].new: want a mapping, got a list"},
		"a field twice":         {head + "- {name: a, new: {a: 1, a: 2}, expect: allow}\n", `f.yaml:3:25: field "cases[0].new.a" is there twice`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseFile("f.yaml", []byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Fatalf("got\n%v\nwant\n%s", err, test.want)
			}
			var source *cel.SourceError
			if !errors.As(err, &source) {
				t.Errorf("%T is no *cel.SourceError", err)
			}
		})
	}
}

func TestCaseDefaults(t *testing.T) {
	file, err := parseFile("f.yaml", []byte(strings.TrimLeft(`
rule: r
defaults:
  old: {spec: {replicas: 3, color: red}, status: {phase: Busy}}
  patch: {spec: {color: null}}
  user: {name: bob@example.com, groups: [staff]}
  live: {palette: {spec: {a: 1, b: 2}}, machines: [{spec: {}}]}
  allow: [{verb: paint, resource: widgets}]
  subresource: status
  dryRun: true
  message: text
  expect: deny
cases:
- name: all of them
- name: merged
  old: {spec: {replicas: 5, color: null}, status: null}
  patch: {spec: {replicas: null}}
  user: {name: carol@example.com}
  live: {palette: {spec: {a: null}}, machines: null}
  allow: []
  subresource: ''
  dryRun: false
  message: other
  expect: {verdict: allow, vap: {verdict: deny, rule: s, also: [t]}}
  fires: false
- name: dropped
  old: null
  patch: null
  new: {spec: {}}
  user: null
  live: null
`, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	all, merged, dropped := file.Cases[0], file.Cases[1], file.Cases[2]
	type object = map[string]any
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", what, got, want)
		}
	}
	check("operation", all.Operation, cel.Update)
	check("patch", all.Patch, object{"spec": object{"color": nil}})
	check("user", all.User, authenticationv1.UserInfo{Username: "bob@example.com", Groups: []string{"staff"}})
	check("allow", all.Allow, []Grant{{Verb: "paint", Resource: "widgets"}})
	check("expect", all.Expect.Of(cel.LayerCRD, cel.Update, cel.Status), LayerExpect{Verdict: cel.Deny, Rule: "r", Message: "text"})
	check("subresource", all.Subresource, cel.Status)
	check("dry run", all.DryRun, true)
	check("fires", all.Fires, true)

	check("merged old", merged.Old, object{"spec": object{"replicas": int64(5)}})
	check("merged patch", merged.Patch, object{"spec": object{"color": nil, "replicas": nil}})
	check("merged user", merged.User, authenticationv1.UserInfo{Username: "carol@example.com", Groups: []string{"staff"}})
	check("merged live", merged.Live, object{"palette": object{"spec": object{"b": int64(2)}}})
	check("merged allow", len(merged.Allow), 0)
	check("merged subresource", merged.Subresource, cel.Main)
	check("merged dry run", merged.DryRun, false)
	check("merged crd", merged.Expect.Of(cel.LayerCRD, cel.Update, cel.Main), LayerExpect{Verdict: cel.Allow, Rule: "r", Message: "other"})
	check("merged vap", merged.Expect.Of(cel.LayerVAP, cel.Update, cel.Main), LayerExpect{Verdict: cel.Deny, Rule: "s", Message: "other", Also: []string{"t"}})
	check("merged fires", merged.Fires, false)

	check("dropped operation", dropped.Operation, cel.Create)
	check("dropped user", dropped.User, DefaultUser)
	check("dropped live", dropped.Live, object(nil))
}

func TestExpectOfBlindLayers(t *testing.T) {
	common := LayerExpect{Verdict: cel.Deny, Rule: "r", Message: "m"}
	stated := Expect{Common: common, Layers: map[cel.Layer]LayerExpect{cel.LayerVAP: {Verdict: cel.Allow}}}
	tests := map[string]struct {
		expect      Expect
		layer       cel.Layer
		operation   cel.Operation
		subresource string
		want        cel.Outcome
	}{
		"crd on DELETE":        {Expect{Common: common}, cel.LayerCRD, cel.Delete, cel.Main, Skip},
		"webhook on DELETE":    {Expect{Common: common}, cel.LayerWebhook, cel.Delete, cel.Main, cel.Deny},
		"vap on DELETE":        {Expect{Common: common}, cel.LayerVAP, cel.Delete, cel.Main, cel.Deny},
		"vap on scale":         {Expect{Common: common}, cel.LayerVAP, cel.Update, cel.Scale, Skip},
		"crd on scale":         {Expect{Common: common}, cel.LayerCRD, cel.Update, cel.Scale, cel.Deny},
		"vap on scale, stated": {stated, cel.LayerVAP, cel.Update, cel.Scale, cel.Allow},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.expect.Of(test.layer, test.operation, test.subresource).Verdict; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
