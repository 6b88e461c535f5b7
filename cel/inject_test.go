package cel

import (
	"errors"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// messagesAt lists the messages of a node's rules, the node found by its path.
func messagesAt(crd *apiextensionsv1.CustomResourceDefinition, at string) []string {
	var out []string
	eachNode(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range node.XValidations {
			if path == at {
				out = append(out, rule.Message)
			}
		}
	})
	return out
}

func TestInjectWritesEachRuleAtItsNode(t *testing.T) {
	b := widgetRule("b-rule", "spec.inner", " self.value > 0 // why\n")
	b.MessageExpression, b.FieldPath, b.Reason = "\n'no %d (b-rule)'.format([self.value])\n", ".value", "FieldValueInvalid"
	hidden := gate(widgetRule("gate-rule", "spec", "true"))
	c := widgetRules(widgetRule("c-rule", "", "true"), b, hidden, widgetRule("a-rule", "", "self == oldSelf"))
	original := newWidgetCRD(t)
	injected, err := Inject(c, []*apiextensionsv1.CustomResourceDefinition{original})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(original, newWidgetCRD(t)) {
		t.Error("the CRD that was given has changed")
	}
	want := []string{"thirteen is not ours to allow", "Refused by a-rule. Do otherwise. (a-rule)", "Refused by c-rule. Do otherwise. (c-rule)"}
	if got := messagesAt(injected[0], ""); !reflect.DeepEqual(got, want) {
		t.Errorf("root: got %q\nwant %q", got, want)
	}
	if got := messagesAt(injected[0], "spec"); got != nil {
		t.Errorf("a rule without the CRD layer is there: %q", got)
	}
	reason := apiextensionsv1.FieldValueInvalid
	wantRule := apiextensionsv1.ValidationRules{{
		Rule: "self.value > 0 // why", Message: "Refused by b-rule. Do otherwise. (b-rule)",
		MessageExpression: "'no %d (b-rule)'.format([self.value])", Reason: &reason, FieldPath: ".value",
	}}
	spec := injected[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	if got := spec.Properties["inner"].XValidations; !reflect.DeepEqual(got, wantRule) {
		t.Errorf("spec.inner: got %+v\nwant %+v", got, wantRule)
	}
}

func TestInjectReplacesWhatItInjected(t *testing.T) {
	crds := []*apiextensionsv1.CustomResourceDefinition{newWidgetCRD(t)}
	before := widgetRules(widgetRule("moved", "spec", "self.size > 0"), widgetRule("gone", "spec.parts", "true"), widgetRule("single", "", "true"))
	first, err := Inject(before, crds)
	if err != nil {
		t.Fatal(err)
	}
	after := widgetRules(widgetRule("moved", "spec.inner", "self.value > 0"))
	second, err := Inject(after, first)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := Inject(after, crds)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(second, fresh) {
		t.Errorf("injected twice: %+v\nonce: %+v", second[0].Spec.Versions[0].Schema, fresh[0].Spec.Versions[0].Schema)
	}
}

func TestInjectNamesRuleAndPath(t *testing.T) {
	namesake := newWidgetCRD(t)
	namesake.Spec.Group = "example.org"
	crd := newWidgetCRD(t)
	crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2"})
	stray := widgetRule("stray", "", "true")
	stray.Resource = "gadgets"
	_, err := Inject(widgetRules(widgetRule("lost", "spec.outer.value", "true"), stray), []*apiextensionsv1.CustomResourceDefinition{namesake, crd})
	wantText(t, errorText(err), lines(
		"inject rule stray: no such CustomResourceDefinition: gadgets.example.com",
		`inject rule lost: no such schema node: path "spec.outer.value" in version v1 of widgets`,
		`inject rule lost: no such schema node: path "spec.outer.value" in version v2 of widgets`))
	if !errors.Is(err, ErrNoCRD) || !errors.Is(err, ErrNoSchemaNode) {
		t.Error("the errors cannot be told apart")
	}
}
