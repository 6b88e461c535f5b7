package why

import (
	"net/http"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const said = "Scaling out from 3 to 5 replicas is refused: ScalingIn is in progress. Wait until condition ScaleOperationInProgress is False, then scale out again. (scale-out-blocked)"

func invalid(message string, causes ...metav1.StatusCause) metav1.Status {
	return metav1.Status{Message: message, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Details: &metav1.StatusDetails{Name: "a", Group: "quorate.dev", Kind: "Etcd", Causes: causes}}
}

func cause(kind metav1.CauseType, field, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: kind, Field: field, Message: message}
}

func status(code int32, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{Code: code, Reason: reason, Message: message}
}

// The texts are those of a kube-apiserver 1.37.2.
func TestClassify(t *testing.T) {
	const name = `Etcd.quorate.dev "a" is invalid: `
	const denied = `admission webhook "gate.quorate.dev" denied the request: `
	const policy = `etcds.quorate.dev "a" is forbidden: ValidatingAdmissionPolicy 'quorate-etcds' with binding 'quorate-etcds' denied request: `
	for _, tc := range []struct {
		name   string
		status metav1.Status
		want   []Row
	}{
		{"CRD rule", invalid(name+"spec.replicas: Forbidden: "+said, cause("FieldValueForbidden", "spec.replicas", "Forbidden: "+said)),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "scale-out-blocked", Field: "spec.replicas", Message: said}}},
		{"CRD rule without a field", invalid(name+"<nil>: Invalid value: "+said, cause("FieldValueInvalid", "<nil>", "Invalid value: "+said)),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "scale-out-blocked", Message: said}}},
		{"CRD rule with a type for a value", invalid(name, cause("FieldValueInvalid", "spec", `Invalid value: "object": `+said)),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "scale-out-blocked", Field: "spec", Message: said}}},
		{"CRD rule with a number for a value", invalid(name, cause("FieldValueInvalid", "spec.replicas", `Invalid value: 5: `+said)),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "scale-out-blocked", Field: "spec.replicas", Message: said}}},
		{"CRD rule with a text for a value that has colons", invalid(name, cause("FieldValueInvalid", "spec.url", `Invalid value: "a: b: \"c\"": No such thing. (url-form)`)),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "url-form", Field: "spec.url", Message: "No such thing. (url-form)"}}},
		{"CRD rule that wants a value", invalid(name, cause("FieldValueRequired", "spec.etcd", "Required value: Say which. (etcd-given)")),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "etcd-given", Field: "spec.etcd", Message: "Say which. (etcd-given)"}}},
		{"CRD rule error", invalid(name, cause("FieldValueInvalid", "<nil>", `Invalid value: "object": no such key: status evaluating rule: `+said)),
			[]Row{{Layer: LayerCRD, Verdict: Error, Rule: "scale-out-blocked", Message: "no such key: status"}}},
		{"CRD rule over types that do not fit", invalid(name, cause("FieldValueInvalid", "spec", `Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: `+said)),
			[]Row{{Layer: LayerCRD, Verdict: Error, Rule: "scale-out-blocked", Field: "spec", Message: "'no such overload'"}}},
		{"CRD rule without an ID that fails", invalid(name, cause("FieldValueInvalid", "spec", `Invalid value: "object": no such key: x evaluating rule: self.x == 1`)),
			[]Row{{Layer: LayerCRD, Verdict: Error, Field: "spec", Message: "no such key: x"}}},
		{"two CRD rules", invalid(name+"[…]", cause("FieldValueForbidden", "spec.replicas", "Forbidden: No. (one)"), cause("FieldValueForbidden", "spec.etcd", "Forbidden: Neither. (two-b)")),
			[]Row{{Layer: LayerCRD, Verdict: Deny, Rule: "one", Field: "spec.replicas", Message: "No. (one)"},
				{Layer: LayerCRD, Verdict: Deny, Rule: "two-b", Field: "spec.etcd", Message: "Neither. (two-b)"}}},
		{"schema: too large", invalid(name, cause("FieldValueInvalid", "spec.replicas", "Invalid value: 12: spec.replicas in body should be less than or equal to 9")),
			[]Row{{Layer: LayerSchema, Verdict: Deny, Field: "spec.replicas", Message: "Invalid value: 12: spec.replicas in body should be less than or equal to 9"}}},
		{"schema: missing", invalid(name, cause("FieldValueRequired", "spec.storage", "Required value")),
			[]Row{{Layer: LayerSchema, Verdict: Deny, Field: "spec.storage", Message: "Required value"}}},
		{"schema: unknown value", invalid(name, cause("FieldValueNotSupported", "spec.kind", `Unsupported value: "x": supported values: "etcd-restore"`)),
			[]Row{{Layer: LayerSchema, Verdict: Deny, Field: "spec.kind", Message: `Unsupported value: "x": supported values: "etcd-restore"`}}},
		{"schema: without causes", metav1.Status{Reason: metav1.StatusReasonInvalid, Message: "the thing is invalid"},
			[]Row{{Layer: LayerSchema, Verdict: Deny, Message: "the thing is invalid"}}},
		{"schema: unknown field", status(400, metav1.StatusReasonBadRequest, `Etcd in version "v1alpha1" cannot be handled as a Etcd: strict decoding error: unknown field "spec.size"`),
			[]Row{{Layer: LayerSchema, Verdict: Deny, Message: `strict decoding error: unknown field "spec.size"`}}},
		{"schema: unknown field of a patch", invalid(` "" is invalid: patch`, cause("FieldValueInvalid", "patch", `Invalid value: "{\"apiVersion\":\"quorate.dev/v1alpha1\"}": strict decoding error: unknown field "spec.size"`)),
			[]Row{{Layer: LayerSchema, Verdict: Deny, Message: `strict decoding error: unknown field "spec.size"`}}},
		{"policy", status(422, metav1.StatusReasonInvalid, policy+said),
			[]Row{{Layer: LayerVAP, Verdict: Deny, By: "quorate-etcds", Rule: "scale-out-blocked", Message: said}}},
		{"policy, forbidden", status(403, metav1.StatusReasonForbidden, policy+said),
			[]Row{{Layer: LayerVAP, Verdict: Deny, By: "quorate-etcds", Rule: "scale-out-blocked", Message: said}}},
		{"policy error", status(422, metav1.StatusReasonInvalid, policy+"expression 'object.status.x == 1' resulted in error: no such key: status"),
			[]Row{{Layer: LayerVAP, Verdict: Error, By: "quorate-etcds", Message: "no such key: status"}}},
		{"policy that cannot be set up", status(422, metav1.StatusReasonInvalid, `etcds.quorate.dev "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: no params`),
			[]Row{{Layer: LayerVAP, Verdict: Error, By: "p", Message: "failed to configure policy: no params"}}},
		{"mutating policy", status(422, metav1.StatusReasonInvalid, `etcds.quorate.dev "a" is forbidden: MutatingAdmissionPolicy 'm' with binding 'm' denied request: expression 'x' resulted in error: no such key: x`),
			[]Row{{Layer: LayerAdmission, Verdict: Error, By: "m", Message: "no such key: x"}}},
		{"webhook 403", status(403, metav1.StatusReasonForbidden, denied+said),
			[]Row{{Layer: LayerWebhook, Verdict: Deny, By: "gate.quorate.dev", Rule: "scale-out-blocked", Message: said}}},
		{"webhook 422", invalid(denied+`Etcd.quorate.dev "a" is invalid: spec.replicas: Forbidden: `+said, cause("FieldValueForbidden", "spec.replicas", "Forbidden: "+said)),
			[]Row{{Layer: LayerWebhook, Verdict: Deny, By: "gate.quorate.dev", Rule: "scale-out-blocked", Field: "spec.replicas", Message: said}}},
		{"webhook 422, rule error", invalid(denied+`Etcd.quorate.dev "a" is invalid`, cause("FieldValueInvalid", "<nil>", `Invalid value: "object": no such key: status evaluating rule: `+said)),
			[]Row{{Layer: LayerWebhook, Verdict: Error, By: "gate.quorate.dev", Rule: "scale-out-blocked", Message: "no such key: status"}}},
		{"webhook whose rules fail", metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError, Message: denied + "rule a-b could not be evaluated: no such key: status; besides, refused: spec.replicas: Forbidden: No. (one)",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{cause("InternalError", "spec", "Internal error: rule a-b could not be evaluated: no such key: status"), cause("FieldValueForbidden", "spec.replicas", "Forbidden: No. (one)")}}},
			[]Row{{Layer: LayerWebhook, Verdict: Error, By: "gate.quorate.dev", Rule: "a-b", Field: "spec", Message: "no such key: status"},
				{Layer: LayerWebhook, Verdict: Deny, By: "gate.quorate.dev", Rule: "one", Field: "spec.replicas", Message: "No. (one)"}}},
		{"webhook without a word", status(400, "", `admission webhook "x.example.com" denied the request without explanation`),
			[]Row{{Layer: LayerWebhook, Verdict: Deny, By: "x.example.com", Message: "without explanation"}}},
		{"webhook that cannot judge now", status(503, metav1.StatusReasonServiceUnavailable, denied+"could not read the machines; nothing was changed, retry (live-read)"),
			[]Row{{Layer: LayerWebhook, Verdict: Error, By: "gate.quorate.dev", Rule: "live-read", Message: "could not read the machines; nothing was changed, retry (live-read)"}}},
		{"webhook out of reach", status(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "gate.quorate.dev": failed to call webhook: Post "https://quorate-webhook.quorate-system.svc:443/gate?timeout=5s": dial tcp 10.0.0.9:443: connect: connection refused`),
			[]Row{{Layer: LayerWebhook, Verdict: Error, By: "gate.quorate.dev", Message: `failed to call webhook: Post "https://quorate-webhook.quorate-system.svc:443/gate?timeout=5s": dial tcp 10.0.0.9:443: connect: connection refused`}}},
		{"webhook that takes no dry run", status(400, metav1.StatusReasonBadRequest, `admission webhook "x.example.com" does not support dry run`),
			[]Row{{Layer: LayerWebhook, Verdict: Error, By: "x.example.com", Message: "does not support dry run"}}},
		{"webhook's match condition fails", status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev "a" is forbidden: expression 'object.x' resulted in error: no such key: x`),
			[]Row{{Layer: LayerAdmission, Verdict: Error, Message: "no such key: x"}}},
		{"RBAC", status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev "a" is forbidden: User "alice" cannot patch resource "etcds" in API group "quorate.dev" in the namespace "data"`),
			[]Row{{Layer: LayerRBAC, Verdict: Deny, Message: `User "alice" cannot patch resource "etcds" in API group "quorate.dev" in the namespace "data"`}}},
		{"impersonation", status(403, metav1.StatusReasonForbidden, `users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`),
			[]Row{{Layer: LayerRBAC, Verdict: Deny, Message: `User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`}}},
		{"quota", status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev "a" is forbidden: exceeded quota: few, requested: count/etcds.quorate.dev=1, used: count/etcds.quorate.dev=2, limited: count/etcds.quorate.dev=2`),
			[]Row{{Layer: LayerQuota, Verdict: Deny, By: "few", Message: "exceeded quota: few, requested: count/etcds.quorate.dev=1, used: count/etcds.quorate.dev=2, limited: count/etcds.quorate.dev=2"}}},
		{"quota that wants more", status(403, metav1.StatusReasonForbidden, `pods "a" is forbidden: failed quota: few: must specify limits.cpu`),
			[]Row{{Layer: LayerQuota, Verdict: Deny, By: "few", Message: "failed quota: few: must specify limits.cpu"}}},
		{"no quota at all", status(403, metav1.StatusReasonForbidden, `pods "a" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]`),
			[]Row{{Layer: LayerQuota, Verdict: Deny, Message: "insufficient quota to match these scopes: [{PriorityClass In [high]}]"}}},
		{"namespace that goes", status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev "a" is forbidden: unable to create new content in namespace data because it is being terminated`),
			[]Row{{Layer: LayerAdmission, Verdict: Deny, Message: "unable to create new content in namespace data because it is being terminated"}}},
		{"namespace that is not there", metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: `namespaces "data" not found`, Details: &metav1.StatusDetails{Kind: "namespaces", Name: "data"}},
			[]Row{{Layer: LayerAdmission, Verdict: Deny, Message: `namespaces "data" not found`}}},
		{"object that is not there", metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: `etcds.quorate.dev "a" not found`, Details: &metav1.StatusDetails{Kind: "etcds", Name: "a"}},
			[]Row{{Layer: LayerStorage, Verdict: Deny, Message: `etcds.quorate.dev "a" not found`}}},
		{"conflict", status(409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on etcds.quorate.dev "a": the object has been modified; please apply your changes to the latest version and try again`),
			[]Row{{Layer: LayerStorage, Verdict: Deny, Message: `Operation cannot be fulfilled on etcds.quorate.dev "a": the object has been modified; please apply your changes to the latest version and try again`}}},
		{"nobody", status(401, metav1.StatusReasonUnauthorized, "Unauthorized"),
			[]Row{{Layer: LayerAuthentication, Verdict: Deny, Message: "Unauthorized"}}},
		{"a tired server", status(429, metav1.StatusReasonTooManyRequests, "too many requests, please try again later"),
			[]Row{{Layer: LayerServer, Verdict: Error, Message: "too many requests, please try again later"}}},
		{"no words at all", status(504, metav1.StatusReasonTimeout, ""),
			[]Row{{Layer: LayerServer, Verdict: Error, Message: "Timeout"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range tc.want {
				tc.want[i].Source = FromServer
			}
			if got := Classify(tc.status); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}
