package cel

import (
	"errors"
	"reflect"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

const widgetController = "system:serviceaccount:widgets:it's"

func policiesOf(t testing.TB, rules ...*Rule) []*admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	policies, bindings, err := Policies(widgetRules(rules...), widgetController)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bindings {
		want := admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policies[i].Name, ValidationActions: []admissionregistrationv1.ValidationAction{"Deny"}}
		if b.Name != policies[i].Name || !reflect.DeepEqual(b.Spec, want) || b.Kind != "ValidatingAdmissionPolicyBinding" {
			t.Errorf("binding of %s: %+v", policies[i].Name, b)
		}
	}
	if len(bindings) != len(policies) {
		t.Errorf("%d bindings of %d policies", len(bindings), len(policies))
	}
	return policies
}

func TestPolicyExpressions(t *testing.T) {
	for _, c := range []struct {
		name string
		rule *Rule
		want string
	}{
		{"transition at the root", widgetRule("r", "", "self.spec.size >= oldSelf.spec.size"),
			lines("oldObject == null || (", "object.spec.size >= oldObject.spec.size", ")")},
		{"static at the root", widgetRule("r", "", "self.spec.size > 0"), "object.spec.size > 0"},
		{"transition at a node", widgetRule("r", "spec.inner", "self.value >= oldSelf.value // up\n"),
			lines("variables.specInner == null || variables.oldSpecInner == null || (", "variables.specInner.value >= variables.oldSpecInner.value // up", ")")},
		{"static at a node", widgetRule("r", "spec", "self.size > 0"),
			lines("variables.spec == null || (", "variables.spec.size > 0", ") ? true : variables.spec == variables.oldSpec")},
		{"a mention is a transition", widgetRule("r", "spec", "self.parts.all(oldSelf, oldSelf.size > 0)"),
			lines("variables.spec == null || variables.oldSpec == null || (", "variables.spec.parts.all(oldSelf, oldSelf.size > 0)", ")")},
		{"gate rule", gate(widgetRule("r", "", "self != null && oldSelf == null"), Create, Update), "object != null && oldObject == null"},
		{"gate rule at a node", gate(widgetRule("r", "spec", "self == null"), Create, Update), "variables.spec == null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantText(t, policiesOf(t, c.rule)[0].Spec.Validations[0].Expression, c.want)
		})
	}
}

func TestPolicyHoldsARuleWhole(t *testing.T) {
	r := widgetRule("r", "spec.inner", "self.value > 0")
	r.MessageExpression, r.Reason = "\n'no %d (r)'.format([self.value])\n", "FieldValueRequired"
	p := policiesOf(t, r, widgetRule("s", "", "oldSelf == self"))[0]
	wantText(t, p.Spec.Validations[0].Message, "Refused by r. Do otherwise. (r)")
	wantText(t, p.Spec.Validations[0].MessageExpression, "'no %d (r)'.format([variables.specInner.value])")
	wantText(t, string(*p.Spec.Validations[0].Reason), "Invalid")
	wantText(t, string(*p.Spec.Validations[1].Reason), "Forbidden")
	wantText(t, string(*p.Spec.FailurePolicy), "Fail")
	wantText(t, p.Kind, "ValidatingAdmissionPolicy")
	want := []admissionregistrationv1.Variable{
		{Name: "specInner", Expression: "object.?spec.?inner.orValue(null)"},
		{Name: "oldSpecInner", Expression: "oldObject.?spec.?inner.orValue(null)"},
	}
	if !reflect.DeepEqual(p.Spec.Variables, want) {
		t.Errorf("variables %+v", p.Spec.Variables)
	}
}

// matched gives what a policy matches, and its conditions.
func matched(p *admissionregistrationv1.ValidatingAdmissionPolicy) [3][]string {
	rule := p.Spec.MatchConstraints.ResourceRules[0]
	var operations, conditions []string
	for _, op := range rule.Operations {
		operations = append(operations, string(op))
	}
	for _, condition := range p.Spec.MatchConditions {
		conditions = append(conditions, condition.Expression)
	}
	return [3][]string{operations, rule.Resources, conditions}
}

func TestPoliciesMatchWhatTheirRulesNeed(t *testing.T) {
	exempt := func(r *Rule) *Rule { r.Binds = BindsAllButController; return r }
	onStatus := gate(widgetRule("on-status", "", "true"), Update)
	onStatus.Subresources = []string{Status}
	policies := policiesOf(t, widgetRule("static", "", "true"), widgetRule("transition", "", "self == oldSelf"),
		gate(widgetRule("on-delete", "", "oldSelf == null"), Delete), onStatus,
		exempt(gate(widgetRule("exempt", "", "true"), Update, Delete)))
	conditions := []string{`request.userInfo.username != 'system:serviceaccount:widgets:it\'s'`}
	want := map[string][3][]string{
		"quorate-widgets":                   {{"CREATE", "UPDATE", "DELETE"}, {"widgets", "widgets/status"}, nil},
		"quorate-widgets-controller-exempt": {{"UPDATE", "DELETE"}, {"widgets"}, conditions},
		"quorate-widgets-status":            {{"UPDATE"}, {"widgets/status"}, nil},
	}
	got := map[string][3][]string{}
	for _, p := range policies {
		got[p.Name] = matched(p)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	wantText(t, policies[0].Spec.Validations[0].Expression, lines(
		"request.operation != 'DELETE' || request.?subResource.orValue('') != '' || (", "oldObject == null", ")"))
	wantText(t, policies[0].Spec.Validations[1].Expression, lines("object == null || (", "true", ")"))
	wantText(t, policies[0].Spec.Validations[2].Expression, lines("object == null || oldObject == null || (", "object == oldObject", ")"))
	transitions := policiesOf(t, widgetRule("transition", "", "self == oldSelf"))[0]
	if got, want := matched(transitions), [3][]string{{"UPDATE"}, {"widgets", "widgets/status"}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("transitions only: got %q, want %q", got, want)
	}
}

func TestPoliciesRefuseWhatTheyCannotDo(t *testing.T) {
	change := func(r *Rule, how func(*Rule)) *Rule { how(r); return r }
	for _, c := range []struct {
		name string
		rule *Rule
		want string
		is   error
	}{
		{"live", gate(widgetRule("r", "", "live.x == null")),
			"write rule r as a policy: variable live: not possible in a ValidatingAdmissionPolicy", ErrNotForPolicy},
		{"live in the message", change(gate(widgetRule("r", "", "true")), func(r *Rule) { r.MessageExpression = "live.x + '(r)'" }),
			"write rule r as a policy: variable live: not possible in a ValidatingAdmissionPolicy", ErrNotForPolicy},
		{"scale", change(gate(widgetRule("r", "", "true")), func(r *Rule) { r.Subresources = []string{Main, Scale} }),
			"write rule r as a policy: subresource scale: not possible in a ValidatingAdmissionPolicy", ErrNotForPolicy},
		{"oldSelf in the message alone", change(widgetRule("r", "spec", "self.size > 0"), func(r *Rule) { r.MessageExpression = "oldSelf.name + '(r)'" }),
			"write rule r as a policy: messageExpression mentions oldSelf, the expression does not: a CRD binds it only for rules that do", nil},
		{"path", widgetRule("r", "spec.with-dash", "true"),
			`write rule r as a policy: path "spec.with-dash": "with-dash" is no identifier, as a policy's variable needs it`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Policies(widgetRules(c.rule), widgetController)
			wantText(t, errorText(err), c.want)
			if c.is != nil && !errors.Is(err, c.is) {
				t.Error("the error does not wrap its sentinel")
			}
		})
	}
	exempt := gate(widgetRule("r", "", "true"))
	exempt.Binds = BindsAllButController
	_, _, err := Policies(widgetRules(exempt), "")
	wantText(t, errorText(err), "write rule r as a policy: leaves out the controller, whose user name is not given")
}
