package doctor

import (
	"context"
	"reflect"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
)

func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

const gate = `
metadata: {name: quorate-gate}
webhooks:
- name: gate.quorate.dev
  failurePolicy: Fail
  matchPolicy: Equivalent
  sideEffects: None
  timeoutSeconds: 5
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: quorate-system, name: quorate-webhook, path: /gate, port: 443}, caBundle: eA==}
  matchConditions: [{name: not-the-controller, expression: "request.userInfo.username != 'system:serviceaccount:quorate-system:quorate-controller'"}]
  rules:
  - {apiGroups: [quorate.dev], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: [etcds, etcds/scale, etcds/status, talosmachines]}
  - {apiGroups: [quorate.dev], apiVersions: [v1alpha1], operations: [DELETE], resources: [talosmachines]}
`

// handled are the requests with a rule: all of etcds but its deletion, and
// machines with their deletion.
func handled(resource string, operation cel.Operation, subresource string) bool {
	return resource == "talosmachines" && subresource == cel.Main || resource == "etcds" && operation != cel.Delete
}

const twoCRDs = `
- metadata: {name: etcds.quorate.dev}
  spec: {group: quorate.dev, scope: Namespaced, names: {plural: etcds, kind: Etcd}, versions: [{name: v1alpha1, served: true, storage: true, subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}}]}
- metadata: {name: talosmachines.quorate.dev}
  spec: {group: quorate.dev, scope: Namespaced, names: {plural: talosmachines, kind: TalosMachine}, versions: [{name: v1alpha1, served: true, storage: true, subresources: {status: {}}}]}
`

func expectedScopes(t *testing.T) Expected {
	return Expected{Group: "quorate.dev", CRDs: *decode[[]*apiextensionsv1.CustomResourceDefinition](t, twoCRDs), Handles: handled}
}

func TestJudgeWebhook(t *testing.T) {
	controller := DefaultNames().Controller()
	condition := func(expression string) func(*admissionregistrationv1.ValidatingWebhook) {
		return func(w *admissionregistrationv1.ValidatingWebhook) {
			w.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "x", Expression: expression}}
		}
	}
	failed := func(seen ...string) []Finding {
		var all []Finding
		for _, s := range seen {
			all = append(all, Finding{Failed, s, reinstall})
		}
		return all
	}
	warning := func(seen string) []Finding { return []Finding{{Warning, seen, reinstall}} }
	good := []Finding{{State: OK, Seen: "quorate-gate is fail-closed, waits at most 5 s, covers every rule and leaves out " + controller + " alone"}}
	for _, tc := range []struct {
		name   string
		change func(*admissionregistrationv1.ValidatingWebhook)
		want   []Finding
	}{
		{"as installed", func(*admissionregistrationv1.ValidatingWebhook) {}, good},
		{"fail-open", func(w *admissionregistrationv1.ValidatingWebhook) {
			ignore := admissionregistrationv1.Ignore
			w.FailurePolicy = &ignore
		}, failed("gate.quorate.dev has another failurePolicy than Fail: whoever stops the manager opens the gate")},
		{"no timeout", func(w *admissionregistrationv1.ValidatingWebhook) { w.TimeoutSeconds = nil },
			warning("gate.quorate.dev waits 10 s for an answer, want at most 5")},
		{"exact versions", func(w *admissionregistrationv1.ValidatingWebhook) {
			exact := admissionregistrationv1.Exact
			w.MatchPolicy = &exact
		}, failed("gate.quorate.dev has another matchPolicy than Equivalent: another API version goes past it")},
		{"side effects", func(w *admissionregistrationv1.ValidatingWebhook) { w.SideEffects = nil },
			warning("gate.quorate.dev does not say that it has no side effects, so a dry run is refused")},
		{"old reviews", func(w *admissionregistrationv1.ValidatingWebhook) { w.AdmissionReviewVersions = []string{"v1beta1"} },
			failed("gate.quorate.dev does not accept AdmissionReview v1")},
		{"namespaces left out", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.NamespaceSelector = decode[admissionregistrationv1.ValidatingWebhook](t, "namespaceSelector: {matchExpressions: [{key: gate, operator: NotIn, values: [off]}]}").NamespaceSelector
		}, failed("gate.quorate.dev has a namespaceSelector: whoever may set labels goes past it")},
		{"objects chosen", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ObjectSelector = decode[admissionregistrationv1.ValidatingWebhook](t, "objectSelector: {matchLabels: {gate: on-it}}").ObjectSelector
		}, failed("gate.quorate.dev has a objectSelector: whoever may set labels goes past it")},
		{"the controller in another spelling", condition(`!("` + controller + `" == request.userInfo.username)`), good},
		{"nobody left out", func(w *admissionregistrationv1.ValidatingWebhook) { w.MatchConditions = nil },
			failed("gate.quorate.dev does not leave out " + controller + ", so a dead webhook stops the controller too")},
		{"a prefix", condition("!request.userInfo.username.startsWith('" + controller + "')"),
			failed("gate.quorate.dev is not asked about changes by " + controller + "-2 of system:serviceaccounts, system:serviceaccounts:quorate-system, system:authenticated")},
		{"a suffix", condition("!request.userInfo.username.endsWith(':quorate-controller')"),
			failed("gate.quorate.dev is not asked about changes by system:serviceaccount:other:quorate-controller of system:serviceaccounts, system:serviceaccounts:quorate-system, system:authenticated",
				"gate.quorate.dev is not asked about changes by x"+controller+" of system:authenticated")},
		{"administrators too", condition("request.userInfo.username != '" + controller + "' && !('system:masters' in request.userInfo.groups)"),
			failed("gate.quorate.dev is not asked about changes by kubernetes-admin of system:masters, system:authenticated")},
		{"a condition that fails", condition("request.userInfo.nothing == 1"),
			failed("gate.quorate.dev has match conditions that fail for " + controller + " of system:authenticated: compilation error: compilation failed: ERROR: <input>:1:17: undefined field 'nothing'\n | request.userInfo.nothing == 1\n | ................^")},
		{"more than the user", condition("request.userInfo.username != '" + controller + "' && !has(object.metadata.labels)"),
			warning("gate.quorate.dev has match conditions that look at more than the user, so who is left out cannot be told for sure")},
		{"scale forgotten", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.Rules[0].Resources = []string{"etcds", "etcds/status", "talosmachines"}
		},
			failed("the webhook has rules for requests that it is not asked about: UPDATE of etcds/scale")},
		{"all subresources by a wildcard", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.Rules[0].Resources = []string{"etcds", "etcds/*", "talosmachines"}
		}, good},
		{"deletion forgotten", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = w.Rules[:1] },
			failed("the webhook has rules for requests that it is not asked about: DELETE of talosmachines")},
		{"deletion without a rule", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.Rules[1].Resources = []string{"talosmachines", "etcds"}
		},
			warning("the webhook is asked about DELETE of etcds without a rule for it, so a dead webhook holds namespaces that have any")},
		{"kinds of others", func(w *admissionregistrationv1.ValidatingWebhook) {
			w.Rules[1].APIGroups = []string{"quorate.dev", ""}
			w.Rules[1].Resources = []string{"talosmachines", "pods"}
		}, failed(`gate.quorate.dev is asked about kinds of others (API groups ["quorate.dev" ""]): a dead webhook would stop them`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := decode[admissionregistrationv1.ValidatingWebhookConfiguration](t, gate)
			tc.change(&w.Webhooks[0])
			if got := JudgeWebhook(context.Background(), w, controller, expectedScopes(t)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestWebhookWithoutEntries(t *testing.T) {
	w := decode[admissionregistrationv1.ValidatingWebhookConfiguration](t, "metadata: {name: quorate-gate}")
	want := []Finding{{Failed, "ValidatingWebhookConfiguration quorate-gate has no entry", reinstall}}
	if got := JudgeWebhook(context.Background(), w, "x", expectedScopes(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
