package cel

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func checkWidgets(t testing.TB, rules ...*Rule) error {
	t.Helper()
	return CheckMinors(widgetRules(rules...), []*apiextensionsv1.CustomResourceDefinition{newWidgetCRD(t)})
}

func TestCheckMinorsAcceptsPortableRules(t *testing.T) {
	r := widgetRule("portable", "spec", "self.size >= oldSelf.size")
	r.MessageExpression = "'From %d to %d is refused. (portable)'.format([oldSelf.size, self.size])"
	if err := checkWidgets(t, r, gate(widgetRule("gate", "", "self.?spec.?size.orValue(0) == 0"))); err != nil {
		t.Error(err)
	}
}

// TestCheckMinorsFindsNewerFunctions: sortBy came with 1.34, and this version's
// server would run it.
func TestCheckMinorsFindsNewerFunctions(t *testing.T) {
	sorted := "self.parts.sortBy(p, p.size).size() > 0"
	err := checkWidgets(t, widgetRule("in-crd", "spec", sorted), gate(widgetRule("in-policy", "spec", sorted)))
	var got []string
	for _, line := range strings.Split(errorText(err), "\n") {
		if strings.HasPrefix(line, "layer") {
			got = append(got, line)
		}
	}
	wantText(t, strings.Join(got, "\n"), lines(
		"layer crd, compatibility version 1.33: rule in-crd: compilation failed: ERROR: <input>:1:18: undeclared reference to 'sortBy' (in container '')",
		"layer vap, compatibility version 1.33: rule in-crd: compilation failed: ERROR: <input>:2:28: undeclared reference to 'sortBy' (in container '')",
		"layer vap, compatibility version 1.33: rule in-policy: compilation failed: ERROR: <input>:2:28: undeclared reference to 'sortBy' (in container '')"))
}

func TestCheckMinorsFindsEachLayersErrors(t *testing.T) {
	typo := widgetRule("typo", "spec", "self.sizes > 1")
	message := widgetRule("message", "spec", "self.size > 1")
	message.MessageExpression = "self.size"
	asks := gate(widgetRule("asks", "", "true"))
	asks.MessageExpression = "authorizer.path('/').check('get').reason()"
	for _, c := range []struct {
		rule *Rule
		want string
	}{
		{typo, "layer crd, compatibility version 1.%d: rule typo: compilation failed: ERROR: <input>:1:5: undefined field 'sizes'"},
		{message, "layer crd, compatibility version 1.%d: rule message: messageExpression must evaluate to a string"},
		{asks, "layer vap, compatibility version 1.%d: rule asks: messageExpression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')"},
	} {
		got := errorText(checkWidgets(t, c.rule))
		for _, minor := range []string{"33", "34", "35", "36", "37"} {
			if want := strings.Replace(c.want, "%d", minor, 1); !strings.Contains(got, want) {
				t.Errorf("%s is not in %s", want, got)
			}
		}
	}
}

// TestCheckMinorsChecksForeignRules: they share the CRD's budget.
func TestCheckMinorsChecksForeignRules(t *testing.T) {
	foreign := map[string]string{"spec.parts[*]": "self.nam == ''", "spec.notes[*]": "self.nom == ''", "spec.blob": "true"}
	crd := newWidgetCRD(t)
	eachNode(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
		if rule, ok := foreign[path]; ok {
			node.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
		}
	})
	got := errorText(CheckMinors(widgetRules(), []*apiextensionsv1.CustomResourceDefinition{crd}))
	for _, want := range []string{
		`layer crd, compatibility version 1.37: rule "self.nom == ''": compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection`,
		`layer crd, compatibility version 1.37: rule "self.nam == ''": compilation failed: ERROR: <input>:1:5: undefined field 'nam'`,
		`layer crd, compatibility version 1.37: rule "true": find the schema node's type: unable to convert structural schema to CEL declarations`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

func TestCheckMinorsHoldsTheCostLimits(t *testing.T) {
	pairs := "self.parts.all(a, self.parts.all(b, self.parts.all(c, self.parts.all(d, a.name != b.name || c.name != d.name))))"
	got := errorText(checkWidgets(t, widgetRule("costly", "spec", pairs)))
	for _, want := range []string{
		"layer crd, compatibility version 1.33: rule costly: estimated cost of its expression is ",
		", at most 10000000; shorten it, or lower maxItems and maxLength of what it reads",
		"validate CRD widgets.example.com: spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	pairs = "self.parts.all(a, self.parts.all(b, self.parts.all(c, self.parts.all(d, true))))"
	var rules []*Rule
	for n := range 30 {
		rules = append(rules, widgetRule(strings.Repeat("x", n+1), "spec", pairs))
	}
	got = errorText(checkWidgets(t, rules...))
	want := "layer crd, compatibility version 1.33: all rules of widgets.example.com: estimated cost "
	if !strings.Contains(got, want) || strings.Contains(got, "rule x: estimated cost") {
		t.Errorf("%q is not in %s", want, got)
	}
}

// TestCheckMinorsCountsItems: a rule of an item costs as often as there are items.
func TestCheckMinorsCountsItems(t *testing.T) {
	ten := "[1,2,3,4,5,6,7,8,9,10]"
	thousands := ten + ".all(a, " + ten + ".all(b, " + ten + ".all(c, " + ten + ".all(d, " + ten + ".all(e, true)))))"
	for name, c := range map[string]struct {
		rule   string
		change func(parts *apiextensionsv1.JSONSchemaProps)
	}{
		"as many as may be": {thousands, func(*apiextensionsv1.JSONSchemaProps) {}},
		"without limit":     {ten + ".all(a, " + ten + ".all(b, true))", func(parts *apiextensionsv1.JSONSchemaProps) { parts.MaxItems = nil }},
	} {
		crd := newWidgetCRD(t)
		eachNode(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
			if path == "spec.parts" {
				node.Items.Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: c.rule}}
				c.change(node)
			}
		})
		got := errorText(CheckMinors(widgetRules(), []*apiextensionsv1.CustomResourceDefinition{crd}))
		want := "layer crd, compatibility version 1.33: rule \"" + c.rule + "\": estimated cost of its expression is "
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestCheckMinorsValidatesTheCRDWhole(t *testing.T) {
	r := widgetRule("r", "spec", "self.size > 0")
	r.FieldPath = ".nowhere"
	got := errorText(checkWidgets(t, r))
	if want := "validate CRD widgets.example.com: spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s…", got, want)
	}
	stray := widgetRule("stray", "spec.none", "true")
	wantText(t, errorText(checkWidgets(t, stray)), `inject rule stray: no such schema node: path "spec.none" in version v1 of widgets`)
	wantText(t, errorText(checkWidgets(t, gate(widgetRule("live", "", "live.x == 1")))),
		"write rule live as a policy: variable live: not possible in a ValidatingAdmissionPolicy")
}
