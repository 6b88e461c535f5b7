package webhooks

import (
	"reflect"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/quorate/quorate/cel"
)

const blockedText = "scaling out from 3 to 5 is blocked while members are being removed (ScalingIn): wait until ScaleOperationInProgress is False (scale-out-blocked)"

var blocked = cel.Finding{Rule: "scale-out-blocked", Outcome: cel.Deny, Field: "spec.replicas", Reason: "FieldValueForbidden", Message: blockedText}

// A denial is the very status that the API server makes of a CRD rule's.
func TestDenialReadsLikeACRDRule(t *testing.T) {
	wrong := cel.Finding{Rule: "confirm-names-cluster", Outcome: cel.Deny, Field: "spec.confirm", Reason: "FieldValueInvalid", Message: "confirm is wrong (confirm-names-cluster)"}
	missing := cel.Finding{Rule: "needs-size", Outcome: cel.Deny, Field: "spec.storage.size", Reason: "FieldValueRequired", Message: "a size is needed (needs-size)"}
	unplaced := cel.Finding{Rule: "unplaced", Outcome: cel.Deny, Message: "no (unplaced)"}
	omit := field.OmitValueType{}
	for _, tt := range []struct {
		name     string
		findings []cel.Finding
		want     field.ErrorList
		message  string
	}{
		{"forbidden", []cel.Finding{blocked}, field.ErrorList{field.Forbidden(field.NewPath("spec", "replicas"), blockedText)},
			`Etcd.quorate.dev "a" is invalid: spec.replicas: Forbidden: ` + blockedText},
		{"invalid", []cel.Finding{wrong}, field.ErrorList{field.Invalid(field.NewPath("spec", "confirm"), omit, wrong.Message)},
			`Etcd.quorate.dev "a" is invalid: spec.confirm: Invalid value: confirm is wrong (confirm-names-cluster)`},
		{"required", []cel.Finding{missing}, field.ErrorList{field.Required(field.NewPath("spec", "storage", "size"), missing.Message)},
			`Etcd.quorate.dev "a" is invalid: spec.storage.size: Required value: a size is needed (needs-size)`},
		{"nowhere", []cel.Finding{unplaced}, field.ErrorList{field.Invalid(nil, omit, unplaced.Message)},
			`Etcd.quorate.dev "a" is invalid: <nil>: Invalid value: no (unplaced)`},
		{"two", []cel.Finding{blocked, wrong}, field.ErrorList{
			field.Forbidden(field.NewPath("spec", "replicas"), blockedText), field.Invalid(field.NewPath("spec", "confirm"), omit, wrong.Message)},
			`Etcd.quorate.dev "a" is invalid: [spec.replicas: Forbidden: ` + blockedText + `, spec.confirm: Invalid value: confirm is wrong (confirm-names-cluster)]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.judge.verdict = denying(tt.findings...)
			response := f.ask(t, reviewOf(nil))
			want := apierrors.NewInvalid(schema.GroupKind{Group: "quorate.dev", Kind: "Etcd"}, "a", tt.want).ErrStatus
			if response.Allowed || !reflect.DeepEqual(*response.Result, want) {
				t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, response.Result, want)
			}
			if got := plainOf(response.Result); got != (plain{422, "Invalid", tt.message}) {
				t.Errorf("got\n%+v, want\n%s", got, tt.message)
			}
		})
	}
}

// The API server drops the text of a duplicate; here it is kept.
func TestDuplicateKeepsItsText(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = denying(cel.Finding{Rule: "r", Outcome: cel.Deny, Field: "spec.x", Reason: "FieldValueDuplicate", Message: "twice (r)"})
	want := plain{422, "Invalid", `Etcd.quorate.dev "a" is invalid: spec.x: Duplicate value: twice (r)`}
	if got := plainOf(f.ask(t, reviewOf(nil)).Result); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A rule that fails is shown as that, and beside it whatever was refused.
func TestRuleError(t *testing.T) {
	failed := cel.Finding{Rule: "wake-at-recorded-size", Outcome: cel.RuleError, Message: "no such key: status"}
	f := newFixture(t)
	f.judge.verdict = denying(failed)
	response := f.ask(t, reviewOf(nil))
	if got, want := plainOf(response.Result), (plain{500, "InternalError", "rule wake-at-recorded-size could not be evaluated: no such key: status"}); response.Allowed || got != want {
		t.Errorf("allowed=%t with %+v, want %+v", response.Allowed, got, want)
	}
	f.judge.verdict = denying(blocked, failed)
	response = f.ask(t, reviewOf(nil))
	want := plain{500, "InternalError", "rule wake-at-recorded-size could not be evaluated: no such key: status; besides, refused: spec.replicas: Forbidden: " + blockedText}
	if got := plainOf(response.Result); response.Allowed || got != want {
		t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, want)
	}
	causes := []metav1.StatusCause{
		{Type: "FieldValueForbidden", Field: "spec.replicas", Message: "Forbidden: " + blockedText},
		{Type: "InternalError", Field: "<nil>", Message: "Internal error: rule wake-at-recorded-size could not be evaluated: no such key: status"},
	}
	if got := response.Result.Details.Causes; !reflect.DeepEqual(got, causes) {
		t.Errorf("causes %+v, want %+v", got, causes)
	}
}

// Only a clean allowance allows, whatever else a judge may say.
func TestOddVerdicts(t *testing.T) {
	for name, v := range map[string]cel.Verdict{
		"none at all":               {},
		"an unknown outcome":        {Outcome: "ALLOW"},
		"an allowance with a doubt": {Outcome: cel.Allow, Findings: []cel.Finding{blocked}},
		"a denial without a reason": {Outcome: cel.Deny},
		"an error without a reason": {Outcome: cel.RuleError},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.judge.verdict = func(*cel.Request) cel.Verdict { return v }
			if response := f.ask(t, reviewOf(nil)); response.Allowed || response.Result.Code < 400 || response.Result.Message == "" {
				t.Errorf("allowed=%t with %+v", response.Allowed, response.Result)
			}
		})
	}
}

func TestAuditAnnotations(t *testing.T) {
	for _, tt := range []struct {
		name    string
		verdict cel.Verdict
		fields  fields
		want    map[string]string
	}{
		{"allowed", cel.Verdict{Outcome: cel.Allow}, nil, map[string]string{"verdict": "allow"}},
		{"denied", cel.VerdictOf([]cel.Finding{blocked, {Rule: "b", Outcome: cel.Deny}, blocked}), nil, map[string]string{"verdict": "deny", "rules": "scale-out-blocked,b"}},
		{"failed", cel.VerdictOf([]cel.Finding{{Rule: "b", Outcome: cel.RuleError}}), nil, map[string]string{"verdict": "error", "rules": "b"}},
		{"turned away", cel.Verdict{}, fields{"subResource": `"x"`}, map[string]string{"verdict": "deny", "rules": "unknown-subresource"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.judge.verdict = func(*cel.Request) cel.Verdict { return tt.verdict }
			if got := f.ask(t, reviewOf(tt.fields)).AuditAnnotations; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Who ordered an operation is in the audit log, of what is let in alone.
//
// covers: C-7
func TestOrderIsAudited(t *testing.T) {
	for _, tt := range []struct {
		name    string
		request cel.Request
		allowed bool
		want    string
	}{
		{"an order", cel.Request{Operation: cel.Create, Resource: "talosoperations"}, true, "alice"},
		{"a refused one", cel.Request{Operation: cel.Create, Resource: "talosoperations"}, false, ""},
		{"a later write", cel.Request{Operation: cel.Update, Resource: "talosoperations"}, true, ""},
		{"of the status", cel.Request{Operation: cel.Create, Resource: "talosoperations", Subresource: cel.Status}, true, ""},
		{"another kind", cel.Request{Operation: cel.Create, Resource: "etcds"}, true, ""},
	} {
		tt.request.User.Username = "alice"
		response := &admissionv1.AdmissionResponse{Allowed: tt.allowed, AuditAnnotations: map[string]string{}}
		auditOrder(response, &tt.request)
		if got := response.AuditAnnotations["ordered-by"]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A message names the object even where the request cannot.
func TestShownName(t *testing.T) {
	created := fields{"operation": `"CREATE"`, "oldObject": "null", "name": `""`}
	generated := fields{"operation": `"CREATE"`, "oldObject": "null", "name": `""`,
		"object": `{"apiVersion":"quorate.dev/v1alpha1","kind":"Etcd","metadata":{"generateName":"a-"}}`}
	for _, tt := range []struct {
		name   string
		fields fields
		want   string
	}{
		{"by the request", nil, "a"},
		{"by the object", created, "a"},
		{"by what it is generated from", generated, "a-"},
		{"by an object in Unicode", fields{"name": `"日本"`}, "日本"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.judge.verdict = denying(blocked)
			if got := f.ask(t, reviewOf(tt.fields)).Result.Details.Name; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDryRunGetsTheSameVerdict(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = denying(blocked)
	real, dry := f.ask(t, reviewOf(nil)), f.ask(t, reviewOf(fields{"dryRun": "true"}))
	if !reflect.DeepEqual(real, dry) || real.Allowed {
		t.Errorf("got %+v, and dry %+v", real, dry)
	}
}
