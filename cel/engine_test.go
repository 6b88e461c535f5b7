package cel

import (
	"context"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func engineFailure(message string) Verdict {
	return VerdictOf([]Finding{{Rule: EngineRule, Outcome: RuleError, Message: message}})
}

func TestEngineRefusesWhatItCannotJudge(t *testing.T) {
	e := widgetEngine(t, widgetRule("grows", "spec", "self.size >= oldSelf.size"), widgetRule("odd", "", "self.spec.size % 2 == 1"))
	larger := newWidget(t, "spec: {size: 9}")
	widget := newWidget(t, "spec: {size: 1}")
	older := newWidget(t, "spec: {size: 1}")
	older["apiVersion"] = "example.com/v0"
	stranger := newWidget(t, "spec: {size: 1}")
	stranger["apiVersion"] = "other.com/v1"
	for name, tc := range map[string]struct {
		r    Request
		want Verdict
	}{
		"a resource without rules":       {Request{Resource: "gadgets"}, VerdictOf(nil)},
		"a delete without rules for it":  {Request{Resource: "widgets", Operation: Delete, OldObject: widget}, VerdictOf(nil)},
		"a create beside an old object":  {Request{Resource: "widgets", Operation: Create, Object: widget, OldObject: larger}, VerdictOf(nil)},
		"a create":                       {Request{Resource: "widgets", Operation: Create, Object: widget}, VerdictOf(nil)},
		"no version is the stored one":   {Request{Resource: "widgets", Operation: Create, Object: map[string]any{"spec": map[string]any{"size": int64(13)}}}, VerdictOf([]Finding{{Rule: "crd", Outcome: Deny, Message: "thirteen is not ours to allow", Reason: "FieldValueInvalid"}})},
		"a create without object":        {Request{Resource: "widgets", Operation: Create}, engineFailure("the request cannot be judged: CREATE without object")},
		"an update without object":       {Request{Resource: "widgets", Operation: Update, OldObject: widget}, engineFailure("the request cannot be judged: UPDATE without object")},
		"an update without old object":   {Request{Resource: "widgets", Operation: Update, Object: widget}, engineFailure("the request cannot be judged: UPDATE without old object")},
		"a delete without old object":    {Request{Resource: "widgets", Operation: Delete}, engineFailure("the request cannot be judged: DELETE without old object")},
		"an unknown operation":           {Request{Resource: "widgets", Operation: "CONNECT"}, engineFailure(`the request cannot be judged: unknown operation "CONNECT"`)},
		"an unknown subresource":         {Request{Resource: "widgets", Operation: Create, Subresource: "log", Object: widget}, engineFailure(`the request cannot be judged: unknown subresource "log"`)},
		"an unknown version":             {Request{Resource: "widgets", Operation: Create, Object: older}, engineFailure(`the request cannot be judged: no rules for apiVersion "example.com/v0"`)},
		"another group":                  {Request{Resource: "widgets", Operation: Create, Object: stranger}, engineFailure(`the request cannot be judged: no rules for apiVersion "other.com/v1"`)},
		"a delete of an unknown version": {Request{Resource: "widgets", Operation: Delete, OldObject: older}, engineFailure(`the request cannot be judged: no rules for apiVersion "example.com/v0"`)},
	} {
		t.Run(name, func(t *testing.T) {
			wantVerdict(t, e.Judge(context.Background(), &tc.r), tc.want)
		})
	}
}

// boom panics when it is asked whether it has ended.
type boom struct{ context.Context }

func (boom) Err() error { panic("boom") }

type callback func(authorizer.Attributes) (authorizer.Decision, string, error)

func (f callback) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	return f(a)
}

func TestPanicsAreRuleErrors(t *testing.T) {
	asks := webhookRule("asks", "spec", "authorizer.path('/x').check('get').allowed()", nil)
	e := widgetEngine(t, asks)
	r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 2}")
	wantVerdict(t, e.Judge(boom{context.Background()}, r), engineFailure("the engine failed: boom"))
	r.Authorizer = callback(func(authorizer.Attributes) (authorizer.Decision, string, error) { panic("bang") })
	wantVerdict(t, e.Judge(context.Background(), r), VerdictOf([]Finding{
		{Rule: "asks", Outcome: RuleError, Message: "internal error: bang", Field: "spec"}}))
}

func TestDeadlinesAreRuleErrors(t *testing.T) {
	e := widgetEngine(t, widgetRule("grows", "spec", "self.size >= oldSelf.size"),
		webhookRule("asks", "spec", "authorizer.path('/x').check('get').allowed() || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a + b + c > 0)))", nil))
	r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 2}")
	ctx, cancel := context.WithCancel(context.Background())
	r.Authorizer = callback(func(authorizer.Attributes) (authorizer.Decision, string, error) {
		cancel()
		return authorizer.DecisionDeny, "", nil
	})
	wantVerdict(t, e.Judge(ctx, r), VerdictOf([]Finding{
		{Rule: "asks", Outcome: RuleError, Message: "operation interrupted: context canceled", Field: "spec"}}))
	wantVerdict(t, e.Judge(ctx, r), VerdictOf([]Finding{
		{Rule: "asks", Outcome: RuleError, Message: "context canceled", Field: "spec"},
		{Rule: "crd", Outcome: RuleError, Message: "context canceled"}}))
}

func TestTheControllerIsBoundByRulesForEveryone(t *testing.T) {
	e := widgetEngine(t,
		webhookRule("all", "spec", "self.size != 3", nil),
		webhookRule("others", "spec", "self.size != 3", func(r *Rule) { r.Binds = BindsAllButController }))
	r := widgetRequest(t, "spec: {size: 1}", "spec: {size: 3}")
	refused := func(id string) Finding {
		return Finding{Rule: id, Outcome: Deny, Message: "Refused by " + id + ". Do otherwise. (" + id + ")", Field: "spec.size", Reason: "FieldValueForbidden"}
	}
	wantVerdict(t, e.Judge(context.Background(), r), VerdictOf([]Finding{refused("all"), refused("others")}))
	wantVerdict(t, e.JudgeAs(context.Background(), r, true), VerdictOf([]Finding{refused("all")}))
}

func TestFindingsComeInCatalogueOrder(t *testing.T) {
	e := widgetEngine(t, widgetRule("d", "", "self.spec.size != 13"), widgetRule("b", "spec.inner", "self.value != 1"),
		webhookRule("c", "spec", "false", nil), widgetRule("a", "status", "self.phase != 'x'"))
	v := e.Judge(context.Background(), widgetRequest(t, "spec: {}", "spec: {size: 13, inner: {value: 1}}\nstatus: {phase: x}"))
	var got []string
	for _, f := range v.Findings {
		got = append(got, f.Rule)
	}
	wantText(t, strings.Join(got, " "), "a b c d crd")
}

// Two maps give their keys in no order; findings come in the keys'.
func TestFindingsOfAMapComeInTheOrderOfItsKeys(t *testing.T) {
	crd := newWidgetCRD(t)
	notes := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["notes"]
	notes.AdditionalProperties.Schema.XValidations = []apiextensionsv1.ValidationRule{{Rule: "self == ''", Message: "has text"}}
	e := newEngine(t, widgetRules(), crd)
	for range 20 {
		v := e.Judge(context.Background(), widgetRequest(t, "", "spec: {notes: {c: x, a: x, d: x, b: x}}"))
		var got []string
		for _, f := range v.Findings {
			got = append(got, f.Field)
		}
		wantText(t, strings.Join(got, " "), "spec.notes[a] spec.notes[b] spec.notes[c] spec.notes[d]")
	}
}

// A rule of the CRD alone is the API server's; the webhook does not judge it.
func TestARuleOfTheCRDAloneIsNotJudged(t *testing.T) {
	rule := widgetRule("alone", "spec", "false")
	rule.Layers = []Layer{LayerCRD}
	e := widgetEngine(t, rule)
	wantVerdict(t, e.Judge(context.Background(), widgetRequest(t, "spec: {}", "spec: {size: 1}")), VerdictOf(nil))
}

func TestEachServedVersionHasItsSchema(t *testing.T) {
	c := widgetRules(widgetRule("small", "spec", "self.size < 5"))
	crd := newWidgetCRD(t)
	second := *crd.Spec.Versions[0].DeepCopy()
	second.Name, second.Storage = "v2", false
	third := *second.DeepCopy()
	third.Name, third.Served = "v3", false
	crd.Spec.Versions = append(crd.Spec.Versions, second, third)
	injected, err := Inject(c, crds(crd))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, c, injected...)
	for version, want := range map[string]Outcome{"v1": Deny, "v2": Deny, "v3": RuleError} {
		widget := newWidget(t, "spec: {size: 5}")
		widget["apiVersion"] = "example.com/" + version
		if v := e.Judge(context.Background(), &Request{Operation: Create, Resource: "widgets", Object: widget}); v.Outcome != want {
			t.Errorf("%s: %s, want %s", version, v.Outcome, want)
		}
	}
	changed, err := e.WithRule(widgetRule("small", "spec", "self.size < 6"))
	if err != nil {
		t.Fatal(err)
	}
	widget := newWidget(t, "spec: {size: 5}")
	widget["apiVersion"] = "example.com/v2"
	wantVerdict(t, changed.Judge(context.Background(), &Request{Operation: Create, Resource: "widgets", Object: widget}), VerdictOf(nil))
}

func TestEngineIsSafeForConcurrentUse(t *testing.T) {
	e := widgetEngine(t, widgetRule("grows", "spec", "self.size >= oldSelf.size && self.parts.all(p, p.size > 0)"),
		webhookRule("asks", "spec", "authorizer.path('/x').check('get').allowed()", nil))
	want := []string{"spec: {size: 1, parts: [{name: a, size: 1}]}", "spec: {size: 3, parts: [{name: a, size: 1}]}"}
	var wg sync.WaitGroup
	for i := range 8 {
		r := widgetRequest(t, "spec: {size: 2, parts: []}", want[i%2])
		r.Authorizer = callback(func(authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		})
		wg.Go(func() {
			for range 50 {
				if v := e.Judge(context.Background(), r); (v.Outcome == Deny) != (i%2 == 0) {
					t.Errorf("request %d: %+v", i%2, v)
				}
			}
		})
	}
	wg.Wait()
}
