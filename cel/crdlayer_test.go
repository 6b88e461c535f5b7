package cel

import (
	"context"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestCRDLayerAllowsWhatItIsNotAskedAbout(t *testing.T) {
	crd, _ := widgetLayers(t, widgetRules(widgetRule("never", "", "false")))
	deletion := widgetRequest(t, "spec: {size: 1}", "")
	other := widgetRequest(t, "", "spec: {size: 1}")
	other.Resource = "gadgets"
	for name, r := range map[string]*Request{"deletion": deletion, "resource without CRD": other} {
		wantFindings(t, name, crd.Judge(context.Background(), r), nil)
	}
	for _, subresource := range []string{Main, Status, Scale} {
		r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 1}")
		r.Subresource = subresource
		wantFindings(t, subresource, crd.Judge(context.Background(), r), denied("never", "Refused by never. Do otherwise. (never)", "spec"))
	}
}

func TestCRDLayerOrdersFindings(t *testing.T) {
	crd, _ := widgetLayers(t, widgetRules(
		widgetRule("b-inner", "spec.inner", "false"), widgetRule("d-root", "", "self.spec.size == 1"), widgetRule("a-status", "status", "false"), widgetRule("c-spec", "spec", "self.name == ''")))
	for range 20 { // the validator's own order is random
		v := crd.Judge(context.Background(), widgetRequest(t, "", "{spec: {size: 13, inner: {value: 1}}, status: {phase: a}}"))
		var got []string
		for _, f := range v.Findings {
			got = append(got, f.Rule+" "+string(f.Outcome))
		}
		if want := []string{"a-status deny", "b-inner deny", "c-spec error", "d-root deny", "crd deny"}; !reflect.DeepEqual(got, want) || v.Outcome != RuleError {
			t.Fatalf("%s: got %q, want %q", v.Outcome, got, want)
		}
	}
}

func TestCRDLayerNamesForeignRules(t *testing.T) {
	crd := newWidgetCRD(t)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.XValidations = []apiextensionsv1.ValidationRule{{Rule: "self.name == ''"}, {Rule: "self.size > 20", Message: "too small"}, {Rule: "has(self.inner)"}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	layer, err := NewCRDLayer(widgetRules(), []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	got := layer.Judge(context.Background(), widgetRequest(t, "", "spec: {size: 13}"))
	wantFindings(t, "crd", got, []Finding{
		{Rule: "crd", Outcome: Deny, Message: "thirteen is not ours to allow", Reason: "FieldValueInvalid"},
		{Rule: "crd.spec", Outcome: RuleError, Message: "no such key: name", Field: "spec"},
		{Rule: "crd.spec", Outcome: Deny, Message: "too small", Field: "spec", Reason: "FieldValueInvalid"},
		{Rule: "crd.spec", Outcome: Deny, Message: "failed rule: has(self.inner)", Field: "spec", Reason: "FieldValueInvalid"},
	})
}

// TestCRDLayerTellsWhatDidNotRun covers the texts that are no rule's verdict.
func TestCRDLayerTellsWhatDidNotRun(t *testing.T) {
	for _, c := range []struct{ name, expression, rule, message string }{
		{"typo", "self.sizes > 1", EngineRule, "rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'sizes'"},
		{"cost of a call", "self.name.matches('^(a|b)*$') || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))",
			"costly", "operation cancelled: actual cost limit exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := widgetRules(widgetRule("costly", "spec", c.expression))
			injected, err := Inject(rules, []*apiextensionsv1.CustomResourceDefinition{newWidgetCRD(t)})
			if err != nil {
				t.Fatal(err)
			}
			layer, err := NewCRDLayer(rules, injected)
			if err != nil {
				t.Fatal(err)
			}
			v := layer.Judge(context.Background(), widgetRequest(t, "", "spec: {size: 1, name: xx}"))
			if len(v.Findings) != 1 || v.Outcome != RuleError || v.Findings[0].Rule != c.rule || !strings.HasPrefix(v.Findings[0].Message, c.message) {
				t.Errorf("got %+v", v)
			}
		})
	}
}

func TestCRDLayerNeedsASchema(t *testing.T) {
	crd := newWidgetCRD(t)
	crd.Spec.Versions[0].Schema = nil
	_, err := NewCRDLayer(widgetRules(), []*apiextensionsv1.CustomResourceDefinition{crd})
	wantText(t, errorText(err), "compile version v1 of CRD widgets.example.com: no such schema node")
}
