package cel

import (
	"context"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// widgetLayers are the two reference layers over the same rules.
func widgetLayers(t testing.TB, c *Catalogue) (crd, vap Layered) {
	t.Helper()
	injected, err := Inject(c, []*apiextensionsv1.CustomResourceDefinition{newWidgetCRD(t)})
	if err != nil {
		t.Fatal(err)
	}
	if crd, err = NewCRDLayer(c, injected); err != nil {
		t.Fatal(err)
	}
	policies, _, err := Policies(c, widgetController)
	if err != nil {
		t.Fatal(err)
	}
	if vap, err = NewVAPLayer(c, policies); err != nil {
		t.Fatal(err)
	}
	return crd, vap
}

// widgetRequest is a creation without an old widget, a deletion without a new one.
func widgetRequest(t testing.TB, old, new string) *Request {
	t.Helper()
	r := &Request{Operation: Update, Resource: "widgets", Namespace: "ns", Name: "w", Object: newWidget(t, new), OldObject: newWidget(t, old)}
	switch {
	case old == "":
		r.Operation = Create
	case new == "":
		r.Operation = Delete
	}
	return r
}

func denied(id, message, field string) []Finding {
	return []Finding{{Rule: id, Outcome: Deny, Message: message, Field: field, Reason: "FieldValueForbidden"}}
}

func failed(id, message, field string) []Finding {
	return []Finding{{Rule: id, Outcome: RuleError, Message: message, Field: field}}
}

func wantFindings(t *testing.T, layer string, got Verdict, want []Finding) {
	t.Helper()
	if !reflect.DeepEqual(got, VerdictOf(want)) {
		t.Errorf("%s: got  %+v\nwant %+v", layer, got, VerdictOf(want))
	}
}

// TestLayersAgree holds that the guards of a policy mean what the CRD means.
func TestLayersAgree(t *testing.T) {
	grows := func(r *Rule) *Rule {
		if r.Path != "spec" {
			return r
		}
		r.MessageExpression = "'From %d to %d is refused. (grows)'.format([oldSelf.size, self.size])"
		return r
	}
	for _, c := range []struct {
		name, path, expression string
		old, new               string
		want                   []Finding
	}{
		{"transition denies", "spec", "self.size >= oldSelf.size", "spec: {size: 3}", "spec: {size: 1}", denied("grows", "From 3 to 1 is refused. (grows)", "spec.size")},
		{"transition allows", "spec", "self.size >= oldSelf.size", "spec: {size: 1}", "spec: {size: 3}", nil},
		{"transition at creation", "spec", "self.size >= oldSelf.size", "", "spec: {size: 1}", nil},
		{"transition without the old node", "spec", "self.size >= oldSelf.size", "status: {phase: a}", "spec: {size: 1}", nil},
		{"transition with a null old node", "spec.inner", "self.value >= oldSelf.value", "spec: {inner: null}", "spec: {inner: {value: 1}}", nil},
		{"transition without the node", "spec", "self.size >= oldSelf.size", "spec: {size: 1}", "status: {phase: a}", nil},
		{"transition without what is around the node", "spec.inner", "self.value >= oldSelf.value", "spec: {inner: {value: 1}}", "status: {phase: a}", nil},
		{"transition is not forgiven", "spec", "oldSelf.size > 0 && self.size > 5", "spec: {size: 3}", "spec: {size: 3}", denied("grows", "From 3 to 3 is refused. (grows)", "spec.size")},
		{"transition at the root", "", "self.spec.size >= oldSelf.spec.size", "spec: {size: 3}", "spec: {size: 1}", denied("grows", "Refused by grows. Do otherwise. (grows)", "spec")},
		{"transition fails", "spec", "self.size >= oldSelf.size", "spec: {name: a}", "spec: {size: 1}", failed("grows", "no such key: size", "spec")},
		{"transition fails on the same", "spec", "self.size >= oldSelf.size", "spec: {name: a}", "spec: {name: a}", failed("grows", "no such key: size", "spec")},
		{"the message fails, the text remains", "spec", "has(self.name) || oldSelf.size > 9", "spec: {size: 1}", "spec: {port: 1}", denied("grows", "Refused by grows. Do otherwise. (grows)", "spec.size")},
	} {
		t.Run(c.name, func(t *testing.T) {
			crd, vap := widgetLayers(t, widgetRules(grows(widgetRule("grows", c.path, c.expression))))
			r := widgetRequest(t, c.old, c.new)
			wantFindings(t, "crd", crd.Judge(context.Background(), r), c.want)
			wantFindings(t, "vap", vap.Judge(context.Background(), r), c.want)
		})
	}
}

// TestLayersForgiveAlike is about rules without oldSelf, which are ratcheted.
func TestLayersForgiveAlike(t *testing.T) {
	message := "Refused by small. Do otherwise. (small)"
	for _, c := range []struct {
		name, path, expression string
		old, new               string
		want                   []Finding
	}{
		{"at creation", "spec", "self.size < 5", "", "spec: {size: 7}", denied("small", message, "spec.size")},
		{"unchanged", "spec", "self.size < 5", "spec: {size: 7}", "{spec: {size: 7}, status: {phase: b}}", nil},
		{"another change of the node", "spec", "self.size < 5", "spec: {size: 7}", "spec: {size: 7, name: b}", denied("small", message, "spec.size")},
		{"a node that was not there", "spec.inner", "self.value < 5", "spec: {size: 1}", "spec: {inner: {value: 7}}", denied("small", message, "spec.inner.value")},
		{"an unchanged node below a changed one", "spec.inner", "self.value < 5", "spec: {inner: {value: 7}}", "spec: {inner: {value: 7}, size: 1}", nil},
		{"the root is never forgiven", "", "self.spec.size < 5", "spec: {size: 7}", "spec: {size: 7}", denied("small", message, "spec")},
		{"an absent node", "spec.inner", "self.value < 5", "spec: {size: 7}", "spec: {size: 7}", nil},
		{"a null node", "spec.inner", "self.value < 5", "", "spec: {inner: null}", nil},
		{"an error is not forgiven", "spec", "self.size < 5", "spec: {name: a}", "spec: {name: a}", failed("small", "no such key: size", "spec")},
		{"an error of types", "spec", "self.port > 5", "", "spec: {port: http}", failed("small", "no such overload", "spec")},
		{"the same list", "spec", "self.parts.size() < 2", "spec: {parts: [{name: a}, {name: b}]}", "spec: {parts: [{name: a}, {name: b}]}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			crd, vap := widgetLayers(t, widgetRules(widgetRule("small", c.path, c.expression)))
			r := widgetRequest(t, c.old, c.new)
			wantFindings(t, "crd", crd.Judge(context.Background(), r), c.want)
			wantFindings(t, "vap", vap.Judge(context.Background(), r), c.want)
		})
	}
}

// TestReorderedMapListIsForgivenByTheCRDAlone is the difference that clause's
// comment names.
func TestReorderedMapListIsForgivenByTheCRDAlone(t *testing.T) {
	crd, vap := widgetLayers(t, widgetRules(widgetRule("few", "spec", "self.parts.size() < 2")))
	r := widgetRequest(t, "spec: {parts: [{name: a}, {name: b}]}", "spec: {parts: [{name: b}, {name: a}]}")
	wantFindings(t, "crd", crd.Judge(context.Background(), r), nil)
	wantFindings(t, "vap", vap.Judge(context.Background(), r), denied("few", "Refused by few. Do otherwise. (few)", "spec.size"))
}
