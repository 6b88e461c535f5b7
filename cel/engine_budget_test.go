package cel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/diff"
)

// long is a name by which a match costs a thousand times its pattern's length/4.
var long = strings.Repeat("x", 9990)

// costing gives an expression that is true and costs about so many units, but
// little time.
func costing(units int, name string) string {
	return "!" + name + ".matches('^" + strings.Repeat("y", units/250) + "')"
}

// partRules puts foreign rules on the items of the widget's parts.
func partRules(t *testing.T, rules ...apiextensionsv1.ValidationRule) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := newWidgetCRD(t)
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	root.XValidations = nil
	parts := root.Properties["spec"].Properties["parts"]
	parts.Items.Schema.XValidations = rules
	return crd
}

func parts(n int) map[string]any {
	var list []any
	for i := range n {
		list = append(list, map[string]any{"name": fmt.Sprint("p", i, long), "size": int64(i)})
	}
	return map[string]any{"apiVersion": "example.com/v1", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"parts": list}}
}

func TestBudgetsEndWhereTheAPIServerEnds(t *testing.T) {
	rule := func(expression, message, better string) apiextensionsv1.ValidationRule {
		return apiextensionsv1.ValidationRule{Rule: expression, Message: message, MessageExpression: better}
	}
	small := rule("self.size < 3", "size is above 2", "")
	for name, tc := range map[string]struct {
		rules []apiextensionsv1.ValidationRule
		items int
		want  string // in one of the refusals
	}{
		"a call over its limit ends all":            {[]apiextensionsv1.ValidationRule{small, rule(costing(1_100_000, "self.name"), "costly", ""), small}, 5, "operation cancelled: actual cost limit exceeded"},
		"the request's budget ends all":             {[]apiextensionsv1.ValidationRule{small, rule(costing(500_000, "self.name"), "costly", "")}, 32, "running out of cost budget, no further validation rules will be run"},
		"a message takes from the budget":           {[]apiextensionsv1.ValidationRule{rule("self.size < 0", "m", costing(500_000, "self.name")+" ? 'long' : 'short'")}, 32, "messageExpression evaluation failed due to running out of cost budget"},
		"a message over its limit ends all":         {[]apiextensionsv1.ValidationRule{rule("self.size < 1", "m", costing(1_100_000, "self.name")+" ? 'long' : 'short'"), small}, 5, "call cost exceeds limit for messageExpression"},
		"a message that fails takes from it too":    {[]apiextensionsv1.ValidationRule{rule("self.size < 0", "m", costing(500_000, "self.name")+" ? ['x'][3] : 'short'")}, 32, "running out of cost budget"},
		"all within the budget":                     {[]apiextensionsv1.ValidationRule{small, rule(costing(100_000, "self.name"), "cheap", "")}, 32, "size is above 2"},
		"the budget is spent by the last rule only": {[]apiextensionsv1.ValidationRule{rule(costing(500_000, "self.name"), "costly", ""), small}, 20, "size is above 2"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := partRules(t, tc.rules...)
			e, stock := tellApart(newEngine(t, widgetRules(), crd)), newStock(t, crd)
			v := e.Judge(context.Background(), &Request{Operation: Create, Resource: "widgets", Object: parts(tc.items)})
			got, _ := asAPIServer(e, "widgets", v)
			want, _ := stock.said(context.Background(), parts(tc.items), nil)
			if text := diff.Diff(want, got); text != "" {
				t.Errorf("refusals (- API server, + engine):\n%s", text)
			}
			if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tc.want) }) {
				t.Errorf("no refusal contains %q: %q", tc.want, got)
			}
		})
	}
}

// A budget that is spent to the last unit stops even a rule that costs nothing.
func TestNoBudgetNoVerdict(t *testing.T) {
	e := newEngine(t, widgetRules(), partRules(t, apiextensionsv1.ValidationRule{Rule: "true", Message: "free"}))
	j := &crdJudge{ctx: context.Background()}
	w := &crdWalk{tree: e.resources["widgets"].trees["v1"], new: parts(2), visitor: j}
	w.run()
	wantVerdict(t, VerdictOf(j.findings), VerdictOf([]Finding{
		{Rule: EngineRule, Outcome: RuleError, Message: outOfBudget, Field: "spec.parts[0]"}}))
}

func TestRatchetedMessagesThatFailAreWarnings(t *testing.T) {
	crd := partRules(t, apiextensionsv1.ValidationRule{Rule: "self.size < 0", Message: "m", MessageExpression: costing(1_100_000, "self.name") + " ? 'long' : 'short'"})
	e, stock := tellApart(newEngine(t, widgetRules(), crd)), newStock(t, crd)
	v := e.Judge(context.Background(), &Request{Operation: Update, Resource: "widgets", Object: parts(1), OldObject: parts(1)})
	_, want := stock.said(context.Background(), parts(1), parts(1))
	if v.Outcome != Allow || len(v.Warnings) != 1 || !slices.Equal(v.Warnings, want) {
		t.Errorf("%s with warnings %q, want %q", v.Outcome, v.Warnings, want)
	}
}

func TestGateRulesShareTheBudgetOfARequest(t *testing.T) {
	var rules []*Rule
	for i := range 32 {
		rules = append(rules, webhookRule(fmt.Sprintf("r%02d", i), "spec", costing(500_000, "self.name"), nil))
	}
	v := widgetEngine(t, rules...).Judge(context.Background(), widgetRequest(t, "spec: {size: 3}", "spec: {size: 5, name: "+long+"}"))
	if v.Outcome != RuleError || len(v.Findings) == 0 || len(v.Findings) == 32 {
		t.Fatalf("%s with %d findings", v.Outcome, len(v.Findings))
	}
	for _, f := range v.Findings {
		if f != (Finding{Rule: EngineRule, Outcome: RuleError, Message: outOfBudget, Field: "spec"}) {
			t.Errorf("finding %+v", f)
		}
	}
}
