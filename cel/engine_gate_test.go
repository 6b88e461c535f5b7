package cel

import (
	"context"
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func crds(list ...*apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	return list
}

// widgetEngine compiles rules on the widget CRD, those of the CRD layer injected.
func widgetEngine(t testing.TB, rules ...*Rule) *Engine {
	t.Helper()
	c := widgetRules(rules...)
	injected, err := Inject(c, crds(newWidgetCRD(t)))
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(t, c, injected...)
}

// webhookRule is a gate rule of the webhook alone.
func webhookRule(id, path, expression string, change func(*Rule)) *Rule {
	r := widgetRule(id, path, expression)
	r.Layers = []Layer{LayerWebhook}
	if change != nil {
		change(r)
	}
	return r
}

// answers is an authorizer that allows one verb and fails on another.
type answers struct{ allowed, broken string }

func (a answers) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	switch attributes.GetVerb() {
	case a.allowed:
		if attributes.GetUser().GetName() == "ann" && attributes.GetResource() == "widgets" && attributes.GetNamespace() == "ns" {
			return authorizer.DecisionAllow, "", nil
		}
	case a.broken:
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	}
	return authorizer.DecisionDeny, "not yours", nil
}

func wantVerdict(t *testing.T, got, want Verdict) {
	t.Helper()
	if text := diff.Diff(want, got); text != "" {
		t.Errorf("verdict (- want, + got):\n%s", text)
	}
}

// covers: C-6, A-9
func TestGateRules(t *testing.T) {
	const size = "Refused by r. Do otherwise. (r)"
	deny := VerdictOf([]Finding{{Rule: "r", Outcome: Deny, Message: size, Field: "spec.size", Reason: "FieldValueForbidden"}})
	failed := func(cause string) Verdict {
		return VerdictOf([]Finding{{Rule: "r", Outcome: RuleError, Message: cause, Field: "spec"}})
	}
	said := func(text string) Verdict {
		v := VerdictOf([]Finding{{Rule: "r", Outcome: Deny, Message: text, Field: "spec.size", Reason: "FieldValueForbidden"}})
		return v
	}
	update := func(change func(*Request)) *Request {
		r := widgetRequest(t, "spec: {size: 3, name: old}", "spec: {size: 5, name: new}")
		r.Name, r.Namespace, r.User.Username = "w", "ns", "ann"
		if change != nil {
			change(r)
		}
		return r
	}
	del := func(r *Request) { r.Operation, r.Object = Delete, nil }
	create := func(r *Request) { r.Operation, r.OldObject = Create, nil }
	longName := func(r *Request) { r.Object["spec"].(map[string]any)["name"] = long }
	can := func(verb string) string {
		return "authorizer.group('example.com').resource('widgets').namespace(request.namespace).name(self.name).check('" + verb + "').allowed()"
	}
	asked := func(r *Request) { r.Authorizer = answers{allowed: "override", broken: "break"} }
	peers := map[string]LiveRead{"peers": {Resource: "widgets"}, "one": {Resource: "widgets", Name: "self.name"}}
	for name, tc := range map[string]struct {
		expression, message string
		change              func(*Rule)
		request             *Request
		want                Verdict
	}{
		"allowed":                         {expression: "self.size > oldSelf.size", request: update(nil), want: VerdictOf(nil)},
		"refused":                         {expression: "self.size < oldSelf.size", request: update(nil), want: deny},
		"the old node is null on create":  {expression: "oldSelf != null", request: update(create), want: deny},
		"the node is null on delete":      {expression: "self != null", request: update(del), change: func(r *Rule) { r.Operations = []Operation{Delete} }, want: deny},
		"delete is not judged by default": {expression: "false", request: update(del), want: VerdictOf(nil)},
		"an absent node is null":          {expression: "self == null", change: func(r *Rule) { r.Path = "status" }, request: update(nil), want: VerdictOf(nil)},
		"below an absent node":            {expression: "self == null && oldSelf == null", change: func(r *Rule) { r.Path = "spec.inner.value" }, request: update(nil), want: VerdictOf(nil)},
		"a field that is absent":          {expression: "self.port > 1", request: update(nil), want: failed("no such key: port")},
		"status is not judged by default": {expression: "false", request: update(func(r *Request) { r.Subresource = Status }), want: VerdictOf(nil)},
		"status when asked for":           {expression: "false", change: func(r *Rule) { r.Subresources = []string{Status} }, request: update(func(r *Request) { r.Subresource = Status }), want: deny},
		"the root has its metadata":       {expression: "self.metadata.namespace == 'ns' && self.kind == 'Widget'", change: func(r *Rule) { r.Path, r.FieldPath = "", ".spec.size" }, request: update(nil), want: VerdictOf(nil)},
		"the request": {
			expression: "request.name == 'w' && request.namespace == 'ns' && request.operation == 'UPDATE' && !request.dryRun && request.userInfo.username == 'ann' && 'dev' in request.userInfo.groups && request.userInfo.extra['k'] == ['v'] && request.kind.kind == 'Widget' && request.kind.group == 'example.com' && request.resource.version == 'v1' && request.requestResource.resource == 'widgets' && !has(request.subResource)",
			request: update(func(r *Request) {
				r.User = authenticationv1.UserInfo{Username: "ann", Groups: []string{"dev"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
			}), want: VerdictOf(nil)},
		"a scale request":       {expression: "request.subResource == 'scale' && request.kind.kind == 'Scale' && request.kind.group == 'autoscaling' && self.size == 5", change: func(r *Rule) { r.Subresources = []string{Scale} }, request: update(func(r *Request) { r.Subresource = Scale }), want: VerdictOf(nil)},
		"a dry run":             {expression: "request.dryRun", request: update(func(r *Request) { r.DryRun = true }), want: VerdictOf(nil)},
		"a verb that is given":  {expression: can("override"), request: update(asked), want: VerdictOf(nil)},
		"a verb that is not":    {expression: can("delete"), request: update(asked), want: deny},
		"a verb without answer": {expression: can("break"), request: update(asked), want: deny},
		"no authorizer":         {expression: can("override"), request: update(nil), want: failed("no such attribute(s): authorizer")},
		"live objects": {expression: "live.peers.all(p, p.spec.size > 1) && live.one == null", change: func(r *Rule) { r.Live = peers },
			request: update(func(r *Request) {
				r.Live = map[string]any{"one": nil, "peers": []any{map[string]any{"spec": map[string]any{"size": int64(2)}}}}
			}), want: VerdictOf(nil)},
		"live objects that were not read": {expression: "live.peers.size() == 0", change: func(r *Rule) { r.Live = peers }, request: update(nil), want: failed("no such key: peers")},
		"a better message":                {expression: "false", message: "'size %d (r)'.format([self.size])", request: update(nil), want: said("size 5 (r)")},
		"a message from the live world": {expression: "false", message: "string(live.peers.size()) + ' peers (r)'", change: func(r *Rule) { r.Live = peers },
			request: update(func(r *Request) { r.Live = map[string]any{"peers": []any{}} }), want: said("0 peers (r)")},
		"a message that fails":       {expression: "false", message: "self.nothing + ' (r)'", request: update(nil), want: deny},
		"a message of blanks":        {expression: "false", message: "' '", request: update(nil), want: deny},
		"a message of two lines":     {expression: "false", message: "'a\\nb (r)'", request: update(nil), want: deny},
		"a message of 6 KiB":         {expression: "false", message: "'" + string(make6K()) + "'", request: update(nil), want: deny},
		"an expression over budget":  {expression: costing(1_100_000, "self.name"), request: update(longName), want: failed("operation cancelled: actual cost limit exceeded")},
		"a message over its limit":   {expression: "false", message: costing(1_100_000, "self.name") + " ? 'a' : 'b'", request: update(longName), want: deny},
		"a rule of the policy alone": {expression: "false", change: func(r *Rule) { r.Layers = []Layer{LayerVAP} }, request: update(nil), want: VerdictOf(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			rule := webhookRule("r", "spec", tc.expression, tc.change)
			rule.MessageExpression = tc.message
			wantVerdict(t, widgetEngine(t, rule).Judge(context.Background(), tc.request), tc.want)
		})
	}
}

func make6K() []byte {
	text := make([]byte, 6<<10)
	for i := range text {
		text[i] = 'x'
	}
	return text
}
