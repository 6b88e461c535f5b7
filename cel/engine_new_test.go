package cel

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestHandles(t *testing.T) {
	bare := newWidgetCRD(t)
	bare.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = nil
	deletes := newEngine(t, widgetRules(webhookRule("d", "", "false", func(r *Rule) { r.Operations = []Operation{Delete} })), bare)
	withCRD := widgetEngine(t, widgetRule("c", "spec", "true"))
	for _, tc := range []struct {
		name string
		e    *Engine
		op   Operation
		sub  string
		want bool
	}{
		{"a delete rule", deletes, Delete, Main, true}, {"no other operation", deletes, Update, Main, false},
		{"no other subresource", deletes, Delete, Status, false}, {"crd rules on update", withCRD, Update, Main, true},
		{"crd rules on status", withCRD, Update, Status, true}, {"crd rules on scale", withCRD, Update, Scale, true},
		{"crd rules on create", withCRD, Create, Main, true}, {"no crd rules on delete", withCRD, Delete, Main, false},
	} {
		if got := tc.e.Handles("widgets", tc.op, tc.sub); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
		if tc.e.Handles("gadgets", tc.op, tc.sub) {
			t.Errorf("%s: gadgets have no rules", tc.name)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	injected := func(rules ...*Rule) []*apiextensionsv1.CustomResourceDefinition {
		out, err := Inject(widgetRules(rules...), crds(newWidgetCRD(t)))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	good := widgetRule("r", "spec", "self.size > 0")
	gadget := widgetRule("r", "spec", "self.size > 0")
	gadget.Resource = "gadgets"
	noSchema := newWidgetCRD(t)
	noSchema.Spec.Versions[0].Schema = nil
	live := map[string]LiveRead{"peers": {Resource: "widgets"}}
	elsewhere := func(path string) *Rule {
		r := widgetRule("r", path, "true")
		r.FieldPath = ""
		return r
	}
	for name, tc := range map[string]struct {
		rule *Rule
		crds []*apiextensionsv1.CustomResourceDefinition
		want string
	}{
		"a rule that is not in the CRD": {good, crds(newWidgetCRD(t)), `version v1 of CRD widgets.example.com: rule r at "spec": ` + ErrNotGenerated.Error()},
		"a rule that differs":           {good, injected(widgetRule("r", "spec", "self.size > 1")), `version v1 of CRD widgets.example.com: rule r at "spec": ` + ErrNotGenerated.Error()},
		"a rule at another place":       {elsewhere("spec"), injected(elsewhere("status")), `version v1 of CRD widgets.example.com: rule r at "spec": ` + ErrNotGenerated.Error()},
		"a resource without CRD":        {gadget, injected(), `compile rule r: no such CustomResourceDefinition: gadgets.example.com`},
		"a typo":                        {widgetRule("r", "spec", "self.sise > 0"), injected(widgetRule("r", "spec", "self.sise > 0")), "version v1 of CRD widgets.example.com: compile rule r at \"spec\": compilation failed: ERROR: <input>:1:5: undefined field 'sise'\n | self.sise > 0\n | ....^"},
		"a CRD without schema":          {good, crds(noSchema), "version v1 of CRD widgets.example.com: read schema: no such schema node"},
		"a gate rule's typo":            {webhookRule("r", "spec", "sself.size > 0", nil), injected(), "compile rule r: ERROR: <input>:1:1: undeclared reference to 'sself' (in container '')\n | sself.size > 0\n | ^"},
		"a gate rule of another type":   {webhookRule("r", "spec", "self.size", nil), injected(), "compile rule r: wrong type of expression: want bool, got dyn"},
		"a gate message's type":         {webhookRule("r", "spec", "true", func(r *Rule) { r.MessageExpression = "1" }), injected(), "compile rule r: messageExpression: wrong type of expression: want string, got int"},
		"a gate message that asks":      {webhookRule("r", "spec", "true", func(r *Rule) { r.MessageExpression = "authorizer.path('/').check('get').reason()" }), injected(), "compile rule r: messageExpression: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/').check('get').reason()\n | ^"},
		"live where nothing is read":    {webhookRule("r", "spec", "live.peers == null", nil), injected(), "compile rule r: ERROR: <input>:1:1: undeclared reference to 'live' (in container '')\n | live.peers == null\n | ^"},
		"live that is not read":         {webhookRule("r", "spec", "live.peer == null", func(r *Rule) { r.Live = live }), injected(), "compile rule r: live.peer: not among the rule's live reads"},
		"a message's live":              {webhookRule("r", "spec", "true", func(r *Rule) { r.Live, r.MessageExpression = live, "string(live.x)" }), injected(), "compile rule r: messageExpression: live.x: not among the rule's live reads"},
		"a live name's type":            {webhookRule("r", "spec", "true", func(r *Rule) { r.Live = map[string]LiveRead{"x": {Resource: "widgets", Name: "1"}} }), injected(), "compile rule r: live.x.name: wrong type of expression: want string, got int"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := New(widgetRules(tc.rule), tc.crds)
			if e != nil {
				t.Error("an engine came with the error")
			}
			wantText(t, errorText(err), tc.want)
		})
	}
	_, err := New(widgetRules(good, gadget), crds(newWidgetCRD(t)))
	if !errors.Is(err, ErrNotGenerated) || !errors.Is(err, ErrNoCRD) {
		t.Errorf("not joined: %v", err)
	}
}
