package cel

import (
	"testing"
)

func aRule(change func(*Rule)) *Rule {
	r := &Rule{
		ID: "b-rule", Doc: "Refuses.", Resource: "etcds", Path: "spec", Expression: "true",
		Message: "spec.replicas is refused; do this (b-rule)", MessageExpression: "'%d (b-rule)'.format([1])",
		Reason: "FieldValueInvalid", FieldPath: ".replicas", Layers: []Layer{LayerCRD, LayerWebhook, LayerVAP},
		Binds: BindsEveryone, File: "rules/b-rule.yaml",
	}
	if change != nil {
		change(r)
	}
	return r
}

func aGateRule(change func(*Rule)) *Rule {
	return aRule(func(r *Rule) {
		r.Layers = []Layer{LayerWebhook}
		r.Live = map[string]LiveRead{"peers": {Resource: "etcds"}}
		change(r)
	})
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		rule *Rule
		want string
	}{
		"a good rule":        {aRule(nil), ""},
		"a good gate rule":   {aGateRule(func(r *Rule) { r.Operations = []Operation{Delete} }), ""},
		"root path":          {aRule(func(r *Rule) { r.Path = "" }), ""},
		"update alone":       {aRule(func(r *Rule) { r.Operations = []Operation{Update} }), ""},
		"deep field":         {aRule(func(r *Rule) { r.FieldPath = ".a.b-c" }), ""},
		"id form":            {aRule(func(r *Rule) { r.ID = "B_rule" }), lines(`rules/b-rule.yaml: id "B_rule": want lower-case words joined by dashes`, `rules/b-rule.yaml: id "B_rule": want the file's name, "b-rule"`, `rules/b-rule.yaml: message: want it to end with " (B_rule)"`, `rules/b-rule.yaml: messageExpression: want "(B_rule)" at the end of its text`)},
		"no doc":             {aRule(func(r *Rule) { r.Doc = " " }), `rules/b-rule.yaml: doc: want one line that says what is refused`},
		"two lines of doc":   {aRule(func(r *Rule) { r.Doc = "a\nb" }), `rules/b-rule.yaml: doc: want one line that says what is refused`},
		"resource form":      {aRule(func(r *Rule) { r.Resource = "Etcd" }), `rules/b-rule.yaml: resource "Etcd": want the plural name in lower case`},
		"path form":          {aRule(func(r *Rule) { r.Path = ".spec" }), `rules/b-rule.yaml: path ".spec": want property names joined by dots`},
		"no expression":      {aRule(func(r *Rule) { r.Expression = "\n" }), `rules/b-rule.yaml: expression: want a CEL expression`},
		"message without id": {aRule(func(r *Rule) { r.Message = "spec is refused" }), `rules/b-rule.yaml: message: want it to end with " (b-rule)"`},
		"message of id only": {aRule(func(r *Rule) { r.Message = " (b-rule)" }), `rules/b-rule.yaml: message: want it to begin with what was refused`},
		"message of spaces":  {aRule(func(r *Rule) { r.Message = "  x (b-rule)" }), `rules/b-rule.yaml: message: want it to begin with what was refused`},
		"message of lines":   {aRule(func(r *Rule) { r.Message = "a\nb (b-rule)" }), `rules/b-rule.yaml: message: want one line`},
		"no expression id":   {aRule(func(r *Rule) { r.MessageExpression = "'x'" }), `rules/b-rule.yaml: messageExpression: want "(b-rule)" at the end of its text`},
		"unknown reason":     {aRule(func(r *Rule) { r.Reason = "FieldValueDuplicate" }), `rules/b-rule.yaml: reason "FieldValueDuplicate": want one of FieldValueInvalid, FieldValueForbidden, FieldValueRequired`},
		"field without dot":  {aRule(func(r *Rule) { r.FieldPath = "replicas" }), `rules/b-rule.yaml: fieldPath "replicas": want property names, each after a dot`},
		"no layer":           {aRule(func(r *Rule) { r.Layers = nil }), `rules/b-rule.yaml: layers: want at least one of crd, webhook, vap`},
		"unknown layer":      {aRule(func(r *Rule) { r.Layers = []Layer{"webhook", "map"} }), `rules/b-rule.yaml: layers [webhook map]: want crd, webhook or vap, each once`},
		"layer twice":        {aRule(func(r *Rule) { r.Layers = []Layer{"vap", "vap"} }), `rules/b-rule.yaml: layers [vap vap]: want crd, webhook or vap, each once`},
		"no binding":         {aRule(func(r *Rule) { r.Binds = "" }), `rules/b-rule.yaml: binds "": want everyone or all-but-controller`},
		"crd but controller": {aRule(func(r *Rule) { r.Binds = BindsAllButController }), `rules/b-rule.yaml: binds: the crd layer binds everyone`},
		"crd on status":      {aRule(func(r *Rule) { r.Subresources = []string{Status} }), `rules/b-rule.yaml: subresources: the crd layer cannot choose them`},
		"crd on delete":      {aRule(func(r *Rule) { r.Operations = []Operation{Update, Delete} }), `rules/b-rule.yaml: operations [UPDATE DELETE]: the crd layer runs on UPDATE, and on CREATE unless the rule mentions oldSelf`},
		"crd on create":      {aRule(func(r *Rule) { r.Operations = []Operation{Create} }), `rules/b-rule.yaml: operations [CREATE]: the crd layer runs on UPDATE, and on CREATE unless the rule mentions oldSelf`},
		"live with vap":      {aGateRule(func(r *Rule) { r.Layers = append(r.Layers, LayerVAP) }), `rules/b-rule.yaml: live: only the webhook reads the live world, so it must be the only layer`},
		"unknown operation":  {aGateRule(func(r *Rule) { r.Operations = []Operation{"CONNECT"} }), `rules/b-rule.yaml: operations [CONNECT]: want CREATE, UPDATE or DELETE, each once`},
		"unknown subres":     {aGateRule(func(r *Rule) { r.Subresources = []string{"log"} }), `rules/b-rule.yaml: subresources ["log"]: want "", status or scale, each once`},
		"live of no name":    {aGateRule(func(r *Rule) { r.Live = map[string]LiveRead{"a-b": {}} }), lines(`rules/b-rule.yaml: live.a-b: want a CEL identifier`, `rules/b-rule.yaml: live.a-b.resource "": want the plural name in lower case`)},
	} {
		t.Run(name, func(t *testing.T) {
			wantText(t, errorText((&Catalogue{Rules: []*Rule{tc.rule}}).Validate()), tc.want)
		})
	}
}

func TestValidateAcrossRules(t *testing.T) {
	again := aGateRule(func(r *Rule) {
		r.ID, r.File, r.Message, r.MessageExpression = "c-rule", "rules/c-rule.yaml", "x (c-rule)", ""
		r.Live = map[string]LiveRead{"peers": {Resource: "etcds", Name: "request.name"}}
	})
	other := aGateRule(func(r *Rule) {
		r.ID, r.File, r.Message, r.MessageExpression = "d-rule", "rules/d-rule.yaml", "x (d-rule)", ""
		r.Resource, r.Live = "talosclusters", again.Live
	})
	first := aGateRule(func(*Rule) {})
	twin := aGateRule(func(r *Rule) { r.File = "more/b-rule.yaml" })
	c := &Catalogue{Rules: []*Rule{first, again, other, twin}}
	wantText(t, errorText(c.Validate()), lines(
		`more/b-rule.yaml: id "b-rule" is taken by rules/b-rule.yaml`,
		`rules/c-rule.yaml: live.peers reads something else in rules/b-rule.yaml`))
}

func TestWithExpressionCopiesOneRule(t *testing.T) {
	first, second := aRule(nil), aRule(func(r *Rule) { r.ID = "c-rule" })
	c := &Catalogue{Group: "g", Rules: []*Rule{first, second}}
	changed := c.WithExpression("c-rule", "false")
	if second.Expression != "true" || changed.Rules[1].Expression != "false" || changed.Rules[0] != first || changed.Group != "g" {
		t.Errorf("%+v, from %+v", changed, c)
	}
}

func TestScopeDefaults(t *testing.T) {
	crd, gate := aRule(nil), aGateRule(func(*Rule) {})
	narrow := aGateRule(func(r *Rule) { r.Operations, r.Subresources = []Operation{Delete}, []string{Status} })
	if len(crd.RunsOn()) != 2 || len(crd.RunsFor()) != 3 || len(gate.RunsFor()) != 1 ||
		narrow.RunsOn()[0] != Delete || narrow.RunsFor()[0] != Status {
		t.Error("the defaults differ from the rule format's documentation")
	}
}
