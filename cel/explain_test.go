package cel

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// outline prints an explanation, a line a sub-expression; * marks what decided.
func outline(x *Explanation, indent string) string {
	mark := ""
	if x.Decided {
		mark = " *"
	}
	at := ""
	if x.Field != "" {
		at = x.Field + ": "
	}
	out := indent + at + x.Source + " => " + x.Value + mark + "\n"
	for _, child := range x.Children {
		out += outline(child, indent+"  ")
	}
	return out
}

func TestExplain(t *testing.T) {
	for name, tc := range map[string]struct {
		rule     *Rule
		old, new string
		want     []string
	}{
		"a conjunction stops at what is false": {
			widgetRule("r", "spec", "self.size > 1 && self.size < oldSelf.size && self.name == 'a'"),
			"spec: {size: 3}", "spec: {size: 5, name: a}", []string{
				`spec: self.size > 1 && self.size < oldSelf.size && self.name == "a" => false`,
				`  self.size > 1 => true`,
				`    self.size => 5`,
				`  self.size < oldSelf.size => false *`,
				`    self.size => 5`,
				`    oldSelf.size => 3`,
				`  self.name == "a" => `,
			}},
		"a conjunction that holds": {
			widgetRule("r", "spec", "self.size > 1 && (has(self.name) || self.size == 5)"),
			"spec: {}", "spec: {size: 5}", []string{
				`spec: self.size > 1 && (has(self.name) || self.size == 5) => true`,
				`  self.size > 1 => true *`,
				`    self.size => 5`,
				`  has(self.name) || self.size == 5 => true`,
				`    has(self.name) => false`,
				`    self.size == 5 => true *`,
				`      self.size => 5`,
			}},
		"a negation": {
			widgetRule("r", "spec", "!(self.size > 1 && self.size < 9)"),
			"spec: {}", "spec: {size: 5}", []string{
				`spec: !(self.size > 1 && self.size < 9) => false`,
				`  self.size > 1 && self.size < 9 => true`,
				`    self.size > 1 => true *`,
				`      self.size => 5`,
				`    self.size < 9 => true *`,
				`      self.size => 5`,
			}},
		"a loop stops at the item that settles it": {
			widgetRule("r", "spec", "!self.parts.exists(p, p.size > 1)"),
			"spec: {}", "spec: {parts: [{name: a, size: 1}, {name: b, size: 2}, {name: c, size: 3}]}", []string{
				`spec: !self.parts.exists(p, p.size > 1) => false`,
				`  self.parts.exists(p, p.size > 1) => true`,
				`    p = {"name":"a","size":1} => false`,
				`      p.size > 1 => false`,
				`        p.size => 1`,
				`    p = {"name":"b","size":2} => true`,
				`      p.size > 1 => true *`,
				`        p.size => 2`,
			}},
		"a loop in a loop": {
			widgetRule("r", "spec", "self.parts.all(p, oldSelf.parts.exists(o, o.name == p.name))"),
			"spec: {parts: [{name: a}]}", "spec: {parts: [{name: b}]}", []string{
				`spec: self.parts.all(p, oldSelf.parts.exists(o, o.name == p.name)) => false`,
				`  p = {"name":"b"} => false`,
				`    oldSelf.parts.exists(o, o.name == p.name) => false`,
				`      o = {"name":"a"} => false`,
				`        o.name == p.name => false *`,
				`          o.name => "a"`,
				`          p.name => "b"`,
			}},
		"a filter shows its items and decides as a whole": {
			widgetRule("r", "spec", "self.parts.filter(p, p.size > 1).size() > 1"),
			"spec: {}", "spec: {parts: [{name: a, size: 1}, {name: b, size: 2}]}", []string{
				`spec: self.parts.filter(p, p.size > 1).size() > 1 => false *`,
				`  self.parts.filter(p, p.size > 1).size() => 1`,
				`    self.parts.filter(p, p.size > 1) => [{"name":"b","size":2}]`,
				`      p = {"name":"a","size":1} => false`,
				`        p.size > 1 => false`,
				`          p.size => 1`,
				`      p = {"name":"b","size":2} => true`,
				`        p.size > 1 => true`,
				`          p.size => 2`,
			}},
		"a map by two variables": {
			widgetRule("r", "spec", "self.notes.all(k, v, k != v)"),
			"spec: {}", "spec: {notes: {b: b, a: x}}", []string{
				`spec: self.notes.all(k, v, k != v) => false`,
				`  k = "a", v = "x" => true`,
				`    k != v => true`,
				`      k => "a"`,
				`      v => "x"`,
				`  k = "b", v = "b" => false`,
				`    k != v => false *`,
				`      k => "b"`,
				`      v => "b"`,
			}},
		"a list by two variables": {
			widgetRule("r", "spec", "self.parts.all(i, p, p.size > i)"),
			"spec: {}", "spec: {parts: [{name: a, size: 0}]}", []string{
				`spec: self.parts.all(i, p, p.size > i) => false`,
				`  i = 0, p = {"name":"a","size":0} => false`,
				`    p.size > i => false *`,
				`      p.size => 0`,
				`      i => 0`,
			}},
		"the branch that was taken": {
			widgetRule("r", "spec", "has(self.name) ? self.name == 'a' : self.size == 1"),
			"spec: {}", "spec: {size: 2}", []string{
				`spec: has(self.name) ? (self.name == "a") : (self.size == 1) => false`,
				`  has(self.name) => false`,
				`  self.name == "a" => `,
				`  self.size == 1 => false *`,
				`    self.size => 2`,
			}},
		"an error": {
			widgetRule("r", "spec", "self.size > 1 && self.inner.value > 1"),
			"spec: {}", "spec: {size: 2}", []string{
				`spec: self.size > 1 && self.inner.value > 1 => error: no such key: inner`,
				`  self.size > 1 => true`,
				`    self.size => 2`,
				`  self.inner.value > 1 => error: no such key: inner *`,
				`    self.inner.value => error: no such key: inner`,
			}},
		"a gate rule": {
			webhookRule("r", "status", "self == null || request.operation != 'UPDATE' || self.?phase.orValue('x') == 'x'", nil),
			"", "spec: {}", []string{
				`status: self == null || request.operation != "UPDATE" || self.?phase.orValue("x") == "x" => true`,
				`  self == null => true *`,
				`    self => null`,
				`  request.operation != "UPDATE" => `,
				`  self.?phase.orValue("x") == "x" => `,
			}},
		"a rule that is not judged": {
			widgetRule("r", "status", "self.phase == 'x'"), "", "spec: {}", []string{`self.phase == "x" => not judged`}},
		"a long value is cut": {
			widgetRule("r", "spec", "self.name == 'x'"), "", "spec: {name: " + strings.Repeat("é", 150) + "}", []string{
				`spec: self.name == "x" => false *`,
				`  self.name => "` + strings.Repeat("é", 99) + "…",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.rule.Operations = nil
			x, err := widgetEngine(t, tc.rule).Explain(context.Background(), "r", widgetRequest(t, tc.old, tc.new))
			if err != nil {
				t.Fatal(err)
			}
			wantText(t, outline(x, ""), lines(tc.want...)+"\n")
		})
	}
}

func TestExplainAtSeveralPlaces(t *testing.T) {
	crd := newWidgetCRD(t)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["parts"].Items.Schema.XValidations = []apiextensionsv1.ValidationRule{{Rule: "self.size > 1", Message: "is small (part)"}}
	e := newEngine(t, widgetRules(), crd)
	r := widgetRequest(t, "", "spec: {parts: [{name: a, size: 1}, {name: b, size: 2}]}")
	x, err := e.Explain(context.Background(), "part", r)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, outline(x, ""), lines(
		`self.size > 1 => judged at 2 places`,
		`  spec.parts[0]: self.size > 1 => false *`,
		`    self.size => 1`,
		`  spec.parts[1]: self.size > 1 => true *`,
		`    self.size => 2`)+"\n")
	data, err := json.Marshal(x.Children[0])
	wantText(t, errorText(err)+string(data), `{"source":"self.size \u003e 1","value":"false","field":"spec.parts[0]","decided":true,"children":[{"source":"self.size","value":"1"}]}`)
	_, err = e.Explain(context.Background(), "none", r)
	wantText(t, errorText(err), "explain rule none: unknown rule: none")
	_, err = e.Explain(context.Background(), "part", &Request{Resource: "widgets", Operation: Create})
	wantText(t, errorText(err), "explain rule part: the request cannot be judged: CREATE without object")
}
