package cel

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func vapOf(t testing.TB, rules ...*Rule) Layered {
	t.Helper()
	layer, err := NewVAPLayer(widgetRules(rules...), policiesOf(t, rules...))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func TestVAPLayerMatchesOperationAndSubresource(t *testing.T) {
	onStatus := gate(widgetRule("on-status", "", "false"), Update)
	onStatus.Subresources = []string{Status}
	layer := vapOf(t, gate(widgetRule("on-create", "", "false"), Create), onStatus,
		gate(widgetRule("on-delete", "", "self != null || oldSelf.spec.size != 1"), Delete), widgetRule("always", "spec", "self.size != 2"))
	for _, c := range []struct {
		name, old, new, subresource string
		want                        []string
	}{
		{"create", "", "spec: {size: 1}", Main, []string{"on-create"}},
		{"update", "spec: {size: 1}", "spec: {size: 2}", Main, []string{"always"}},
		{"delete", "spec: {size: 1}", "", Main, []string{"on-delete"}},
		{"status", "spec: {size: 1}", "spec: {size: 2}", Status, []string{"always", "on-status"}},
		{"scale", "spec: {size: 1}", "spec: {size: 2}", Scale, nil},
	} {
		r := widgetRequest(t, c.old, c.new)
		r.Subresource = c.subresource
		var want []Finding
		for _, id := range c.want {
			field := map[string]string{"always": "spec.size"}[id]
			if field == "" {
				field = "spec"
			}
			want = append(want, denied(id, "Refused by "+id+". Do otherwise. ("+id+")", field)...)
		}
		wantFindings(t, c.name, layer.Judge(context.Background(), r), want)
	}
	updates := vapOf(t, gate(widgetRule("on-update", "", "false"), Update))
	for name, r := range map[string]*Request{"creation": widgetRequest(t, "", "spec: {size: 1}"), "deletion": widgetRequest(t, "spec: {size: 1}", "")} {
		wantFindings(t, name, updates.Judge(context.Background(), r), nil)
	}
	other := widgetRequest(t, "", "spec: {size: 1}")
	other.Resource = "gadgets"
	wantFindings(t, "another resource", layer.Judge(context.Background(), other), nil)
}

func TestVAPLayerLeavesTheControllerOut(t *testing.T) {
	exempt := gate(widgetRule("an-exempt", "", "false"), Update) // first in the catalogue, last among policies
	exempt.Binds = BindsAllButController
	layer := vapOf(t, exempt, gate(widgetRule("bound", "", "false"), Update))
	for user, ids := range map[string][]string{widgetController: {"bound"}, widgetController + "x": {"an-exempt", "bound"}} {
		r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 2}")
		r.User = authenticationv1.UserInfo{Username: user}
		var want []Finding
		for _, id := range ids {
			want = append(want, denied(id, "Refused by "+id+". Do otherwise. ("+id+")", "spec")...)
		}
		wantFindings(t, user, layer.Judge(context.Background(), r), want)
	}
}

// TestVAPLayerShowsTheRequest reads the request's parts in rules.
func TestVAPLayerShowsTheRequest(t *testing.T) {
	layer := vapOf(t,
		gate(widgetRule("request", "", `request.userInfo.username == 'jo' && request.userInfo.groups == ['staff'] && request.userInfo.uid == '7'
			&& request.userInfo.extra['team'] == ['storage'] && request.namespace == 'ns' && request.name == 'w' && request.dryRun
			&& request.operation == 'UPDATE' && request.resource.resource == 'widgets' && request.kind.kind == 'Widget' && request.kind.version == 'v1'`), Update),
		gate(widgetRule("authorizer", "", "authorizer.group('example.com').resource('widgets').namespace('ns').name('w').check('override').allowed()"), Update))
	r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 2}")
	r.DryRun = true
	r.User = authenticationv1.UserInfo{Username: "jo", UID: "7", Groups: []string{"staff"}, Extra: map[string]authenticationv1.ExtraValue{"team": {"storage"}}}
	asked := ""
	r.Authorizer = decide(func(a authorizer.Attributes) authorizer.Decision {
		asked = strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetAPIGroup(), a.GetResource(), a.GetNamespace(), a.GetName()}, " ")
		return authorizer.DecisionAllow
	})
	wantFindings(t, "allowed", layer.Judge(context.Background(), r), nil)
	wantText(t, asked, "jo override example.com widgets ns w")
	r.Authorizer = decide(func(authorizer.Attributes) authorizer.Decision { return authorizer.DecisionNoOpinion })
	wantFindings(t, "no opinion", layer.Judge(context.Background(), r), denied("authorizer", "Refused by authorizer. Do otherwise. (authorizer)", "spec"))
	r.Authorizer = nil
	wantFindings(t, "unbound", layer.Judge(context.Background(), r), failed("authorizer", "no such attribute(s): authorizer", ""))
}

// decide is an authorizer made of a function.
type decide func(authorizer.Attributes) authorizer.Decision

func (d decide) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	return d(a), "", nil
}

func TestVAPLayerRefusesPoliciesThatCannotRun(t *testing.T) {
	broken := policiesOf(t, widgetRule("broken", "", "self.spec.size > 0"))[0]
	broken.Spec.Validations[0].Expression = "object.spec.size"
	broken.Spec.Validations[0].MessageExpression = "authorizer.path('/').check('get').reason()"
	broken.Spec.Variables = []admissionregistrationv1.Variable{{Name: "x", Expression: "objects"}}
	broken.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "c", Expression: "1"}}
	_, err := NewVAPLayer(widgetRules(), []*admissionregistrationv1.ValidatingAdmissionPolicy{broken})
	wantText(t, errorText(err), lines(
		"compile policy quorate-widgets: variable x: compilation failed: ERROR: <input>:1:1: undeclared reference to 'objects' (in container '')",
		" | objects", " | ^",
		"compile policy quorate-widgets: matchCondition c: must evaluate to bool but got int",
		"compile policy quorate-widgets: rule broken: must evaluate to bool but got dyn",
		"compile policy quorate-widgets: rule broken: messageExpression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')",
		" | authorizer.path('/').check('get').reason()", " | ^"))
	withParameters := policiesOf(t, widgetRule("r", "", "true"))[0]
	withParameters.Spec.ParamKind = &admissionregistrationv1.ParamKind{}
	_, err = NewVAPLayer(widgetRules(), []*admissionregistrationv1.ValidatingAdmissionPolicy{withParameters})
	wantText(t, errorText(err), "compile policy quorate-widgets: policies with parameters are not supported")
}

// TestVAPLayerTellsAPolicyOutOfBudget: such a policy has one decision for all its
// validations.
func TestVAPLayerTellsAPolicyOutOfBudget(t *testing.T) {
	costly := "self.spec.name.matches('^" + strings.Repeat("a", 380) + "') || true" // 950,000 each, of 10 million
	var rules []*Rule
	for _, id := range strings.Fields("a b c d e f g h i j k") {
		rules = append(rules, gate(widgetRule(id, "", costly), Update))
	}
	request := widgetRequest(t, "spec: {size: 1}", "spec: {name: "+strings.Repeat("b", 100_000)+"}")
	wantFindings(t, "ten rules", vapOf(t, rules[:10]...).Judge(context.Background(), request), nil)
	wantFindings(t, "eleven rules", vapOf(t, rules...).Judge(context.Background(), request),
		failed(EngineRule, "validation failed due to running out of cost budget, no further validation rules will be run", ""))
}
