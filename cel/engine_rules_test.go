package cel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestWithRuleChangesOneRule(t *testing.T) {
	small := func() *Rule { return widgetRule("small", "spec", "self.size < 5") }
	gate := func() *Rule {
		return webhookRule("gate", "spec", "self.size < 6", func(r *Rule) { r.Live = map[string]LiveRead{"all": {Resource: "widgets"}} })
	}
	e := widgetEngine(t, small(), widgetRule("odd", "spec", "self.size % 2 == 1"), gate())
	verdict := func(e *Engine, size int) string {
		var ids []string
		for _, f := range e.Judge(context.Background(), widgetRequest(t, "spec: {size: 1}", fmt.Sprintf("spec: {size: %d}", size))).Findings {
			ids = append(ids, f.Rule+" "+string(f.Outcome))
		}
		return strings.Join(ids, ", ")
	}
	change := func(e *Engine, r *Rule, expression, message string) *Engine {
		r.Expression, r.MessageExpression = expression, message
		out, err := e.WithRule(r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	looser := change(e, small(), "self.size < 8", "")
	transition := change(looser, small(), "self.size < oldSelf.size", "'x (small)'")
	broken := change(looser, gate(), "live.all.size() > 0", "")
	for _, tc := range []struct {
		name, got, want string
	}{
		{"before", verdict(e, 7), "gate deny, small deny"},
		{"looser", verdict(looser, 7), "gate deny"},
		{"the others stay", verdict(looser, 8), "gate deny, odd deny, small deny"},
		{"the first engine stays", verdict(e, 5), "small deny"},
		{"a transition rule", verdict(transition, 3), "small deny"},
		{"a gate rule", verdict(broken, 7), "gate error"},
	} {
		t.Run(tc.name, func(t *testing.T) { wantText(t, tc.got, tc.want) })
	}
}

func TestWithRuleRefuses(t *testing.T) {
	e := widgetEngine(t, widgetRule("small", "spec", "self.size < 5"), webhookRule("gate", "spec", "true", nil))
	for name, tc := range map[string]struct {
		rule *Rule
		want string
	}{
		"an unknown rule":       {widgetRule("big", "spec", "true"), "unknown rule: big"},
		"a typo":                {widgetRule("small", "spec", "self.sise < 5"), "version v1: compile rule small at \"spec\": ERROR: <input>:1:5: undefined field 'sise'\n | self.sise < 5\n | ....^"},
		"another type":          {widgetRule("small", "spec", "self.size"), `version v1: compile rule small at "spec": wrong type of expression: want bool, got int`},
		"a message's type":      {func() *Rule { r := widgetRule("small", "spec", "true"); r.MessageExpression = "1"; return r }(), `version v1: compile rule small at "spec": messageExpression: wrong type of expression: want string, got int`},
		"a field that is not":   {func() *Rule { r := widgetRule("small", "spec", "true"); r.FieldPath = ".sise"; return r }(), `version v1: compile rule small at "spec": fieldPath .sise: does not refer to a valid field`},
		"a gate rule's typo":    {webhookRule("gate", "spec", "sself", nil), "compile rule gate: ERROR: <input>:1:1: undeclared reference to 'sself' (in container '')\n | sself\n | ^"},
		"a mutant of no result": {webhookRule("gate", "spec", "", nil), "compile rule gate: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.WithRule(tc.rule)
			wantText(t, errorText(err), tc.want)
		})
	}
	if _, err := e.WithRule(widgetRule("big", "spec", "true")); !errors.Is(err, ErrUnknownRule) {
		t.Error("no sentinel")
	}
}

// A rule that is compiled alone must mean what it means compiled with the others.
func TestWithRuleCompilesAsNewDoes(t *testing.T) {
	crd := readCRD(t, "testdata/widgets.yaml")
	e := tellApart(newEngine(t, &Catalogue{Group: "example.com"}, crd))
	for _, tree := range e.resources["widgets"].trees {
		for _, n := range tree.nodes() {
			for _, want := range tree.rules[n.index] {
				got, err := n.compiler.compileOne(want.source)
				if err != nil {
					t.Errorf("%s: %v", want.key, err)
				}
				if got.usesOldSelf != want.usesOldSelf || got.optional != want.optional || got.field != want.field || (got.message == nil) != (want.message == nil) {
					t.Errorf("%s: %+v, want %+v", want.key, got, want)
				}
			}
		}
	}
}

func TestRuleEnv(t *testing.T) {
	e := widgetEngine(t, widgetRule("typed", "spec", "true"), webhookRule("gate", "spec", "true", nil))
	for name, tc := range map[string]struct{ rule, expression, want string }{
		"a field of the node":   {"typed", "self.size > oldSelf.size", ""},
		"a field that is not":   {"typed", "self.sise > 1", "ERROR: <input>:1:5: undefined field 'sise'\n | self.sise > 1\n | ....^"},
		"no request in the CRD": {"typed", "request.name", "ERROR: <input>:1:1: undeclared reference to 'request' (in container '')\n | request.name\n | ^"},
		"a gate's request":      {"gate", "request.name == self.anything", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := e.RuleEnv(tc.rule)
			if err != nil {
				t.Fatal(err)
			}
			_, issues := env.Compile(tc.expression)
			wantText(t, errorText(issues.Err()), tc.want)
		})
	}
	_, err := e.RuleEnv("none")
	wantText(t, errorText(err), "unknown rule: none")
}

// partText shows self and oldSelf.
func partText(a interpreter.Activation) string {
	var words []string
	for _, name := range []string{selfVar, oldSelfVar} {
		switch v, _ := a.ResolveName(name); part := v.(type) {
		case traits.Mapper:
			words = append(words, fmt.Sprint(part.Get(types.String("name")).Value(), " ", part.Get(types.String("size")).Value()))
		case types.Null:
			words = append(words, "null")
		}
	}
	return strings.Join(words, " ")
}

func TestActivationsAreThoseOfTheVerdict(t *testing.T) {
	crd := newWidgetCRD(t)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["parts"].Items.Schema.XValidations = []apiextensionsv1.ValidationRule{
		{Rule: "self.size >= oldSelf.size", Message: "shrinks (part)"}, {Rule: "self.size > 0"}, {Rule: "self.size > 1"}}
	e := newEngine(t, widgetRules(webhookRule("gate", "spec.inner", "true", func(r *Rule) { r.Binds = BindsAllButController })), crd)
	update := widgetRequest(t, "spec: {parts: [{name: a, size: 1}, {name: b, size: 2}]}", "spec: {parts: [{name: c, size: 3}, {name: b, size: 4}]}")
	create, del := *update, *update
	create.Operation, create.OldObject = Create, nil
	del.Operation, del.Object = Delete, nil
	for name, tc := range map[string]struct {
		rule, want string
		r          Request
	}{
		"a transition rule needs the old item": {"part", "b 4 b 2", *update},
		"not on create":                        {"part", "", create},
		"a foreign rule":                       {"crd.spec.parts[*]", "c 3; b 4 b 2", *update},
		"its neighbour":                        {"crd.spec.parts[*]#2", "c 3; b 4 b 2", *update},
		"on create":                            {"crd.spec.parts[*]", "c 3; b 4", create},
		"not on delete":                        {"crd.spec.parts[*]", "", del},
		"a gate rule":                          {"gate", "null null", *update},
		"a gate rule on delete":                {"gate", "", del},
		"another resource":                     {"part", "", Request{Resource: "gadgets"}},
	} {
		t.Run(name, func(t *testing.T) {
			activations, err := e.Activations(tc.rule, &tc.r)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range activations {
				got = append(got, partText(a))
			}
			wantText(t, strings.Join(got, "; "), tc.want)
		})
	}
	_, err := e.Activations("none", update)
	wantText(t, errorText(err), "unknown rule: none")
	_, err = e.Activations("part", &Request{Resource: "widgets", Operation: Create})
	wantText(t, errorText(err), "the request cannot be judged: CREATE without object")
}
