package parity

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/quorate/quorate/cel"
)

// How the API server puts a layer's words.
const webhookSays = `admission webhook "gate.quorate.dev" denied the request: `

var (
	policySays = regexp.MustCompile(`(?s)^ValidatingAdmissionPolicy '[^']+' with binding '[^']+' denied request: (.+)$`)
	ruleMark   = regexp.MustCompile(`\(([a-z0-9-]+)\)$`)
)

// causeSays begins a cause of a refusal in the form of schema validation.
var causeSays = map[string]string{
	string(field.ErrorTypeInvalid):   field.ErrorTypeInvalid.String() + ": ",
	string(field.ErrorTypeForbidden): field.ErrorTypeForbidden.String() + ": ",
	string(field.ErrorTypeRequired):  field.ErrorTypeRequired.String() + ": ",
}

// oldValue is the type in the place of the value, which Kubernetes 1.34 writes for
// a CRD rule on an object, and 1.37 does not.
const oldValue = `"object": `

// verdictIn reads the verdict of the only layer that is on in an answer of the
// API server. Whatever it does not look like is a finding by no rule, which no
// layer in process has. An error is one of transport.
func verdictIn(c *cel.Catalogue, layer cel.Layer, err error) (cel.Verdict, error) {
	if err == nil {
		return cel.VerdictOf(nil), nil
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return cel.Verdict{}, err
	}
	findings := findingsIn(c, layer, answer.Status())
	if len(findings) == 0 {
		findings = []cel.Finding{{Rule: cel.EngineRule, Outcome: cel.RuleError, Message: err.Error()}}
	}
	slices.SortStableFunc(findings, func(a, b cel.Finding) int { return place(c, a) - place(c, b) })
	return cel.VerdictOf(findings), nil
}

func place(c *cel.Catalogue, f cel.Finding) int {
	return slices.IndexFunc(c.Rules, func(r *cel.Rule) bool { return r.ID == f.Rule })
}

func findingsIn(c *cel.Catalogue, layer cel.Layer, s metav1.Status) []cel.Finding {
	if s.Details == nil || len(s.Details.Causes) == 0 {
		return nil
	}
	if layer == cel.LayerVAP {
		return policyFinding(c, s)
	}
	if s.Reason != metav1.StatusReasonInvalid || strings.HasPrefix(s.Message, webhookSays) != (layer == cel.LayerWebhook) {
		return nil
	}
	var out []cel.Finding
	for _, cause := range s.Details.Causes {
		begin, known := causeSays[string(cause.Type)]
		message, ok := strings.CutPrefix(cause.Message, begin)
		if !known || !ok {
			return nil
		}
		if layer == cel.LayerCRD && cause.Type == metav1.CauseTypeFieldValueInvalid {
			message = strings.TrimPrefix(message, oldValue)
		}
		out = append(out, cel.Finding{Rule: ruleIn(message), Outcome: cel.Deny, Message: message, Field: cause.Field, Reason: string(cause.Type)})
	}
	return out
}

// policyFinding: a policy has a reason and knows no field, so that is the rule's
// own, as in process.
func policyFinding(c *cel.Catalogue, s metav1.Status) []cel.Finding {
	said := policySays.FindStringSubmatch(s.Details.Causes[0].Message)
	reason, known := map[metav1.StatusReason]field.ErrorType{
		metav1.StatusReasonForbidden: field.ErrorTypeForbidden, metav1.StatusReasonInvalid: field.ErrorTypeInvalid,
	}[s.Reason]
	if said == nil || !known {
		return nil
	}
	rule, ok := c.Rule(ruleIn(said[1]))
	if !ok {
		return nil
	}
	return []cel.Finding{{Rule: rule.ID, Outcome: cel.Deny, Message: said[1], Reason: string(reason), Field: strings.TrimPrefix(rule.Path+rule.FieldPath, ".")}}
}

func ruleIn(message string) string {
	if found := ruleMark.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return cel.EngineRule
}

func TestVerdictIn(t *testing.T) {
	c := &cel.Catalogue{Rules: []*cel.Rule{{ID: "a", Path: "spec", FieldPath: ".x"}, {ID: "b"}}}
	denied := func(rule, reason string) cel.Finding {
		return cel.Finding{Rule: rule, Outcome: cel.Deny, Message: "No: 1. (" + rule + ")", Field: "spec.x", Reason: reason}
	}
	path := field.NewPath("spec", "x")
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Etcd"}, "e", field.ErrorList{
		field.Forbidden(path, "No: 1. (b)"), field.Invalid(path, field.OmitValueType{}, "No: 1. (a)")})
	older := apierrors.NewInvalid(schema.GroupKind{Kind: "Etcd"}, "e", field.ErrorList{field.Invalid(path, "object", "No: 1. (a)")})
	byWebhook := apierrors.NewInvalid(schema.GroupKind{Kind: "Etcd"}, "e", field.ErrorList{field.Forbidden(path, "No: 1. (b)")})
	byWebhook.ErrStatus.Message = webhookSays + byWebhook.ErrStatus.Message
	failed := apierrors.NewInvalid(schema.GroupKind{Kind: "Etcd"}, "e", field.ErrorList{field.InternalError(path, errors.New("no such key: x"))})
	byPolicy := apierrors.NewForbidden(schema.GroupResource{Resource: "etcds"}, "e", errors.New("long"))
	byPolicy.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: No: 1. (a)"}}
	strange := func(err error) []cel.Finding {
		return []cel.Finding{{Rule: cel.EngineRule, Outcome: cel.RuleError, Message: err.Error()}}
	}
	lost := errors.New("connection refused")
	for _, tt := range []struct {
		name  string
		layer cel.Layer
		err   error
		want  []cel.Finding
		fails error
	}{
		{name: "accepted", layer: cel.LayerCRD},
		{name: "CRD, in catalogue order", layer: cel.LayerCRD, err: invalid, want: []cel.Finding{denied("a", "FieldValueInvalid"), denied("b", "FieldValueForbidden")}},
		{name: "CRD, of an older version", layer: cel.LayerCRD, err: older, want: []cel.Finding{denied("a", "FieldValueInvalid")}},
		{name: "webhook", layer: cel.LayerWebhook, err: byWebhook, want: []cel.Finding{denied("b", "FieldValueForbidden")}},
		{name: "policy", layer: cel.LayerVAP, err: byPolicy, want: []cel.Finding{denied("a", "FieldValueForbidden")}},
		{name: "the webhook in the CRD's place", layer: cel.LayerCRD, err: byWebhook, want: strange(byWebhook)},
		{name: "the CRD in the webhook's place", layer: cel.LayerWebhook, err: invalid, want: strange(invalid)},
		{name: "a policy in the CRD's place", layer: cel.LayerCRD, err: byPolicy, want: strange(byPolicy)},
		{name: "the CRD in a policy's place", layer: cel.LayerVAP, err: invalid, want: strange(invalid)},
		{name: "a rule that failed", layer: cel.LayerCRD, err: failed, want: strange(failed)},
		{name: "no refusal", layer: cel.LayerWebhook, err: apierrors.NewBadRequest("bad"), want: strange(apierrors.NewBadRequest("bad"))},
		{name: "no answer", layer: cel.LayerWebhook, err: lost, fails: lost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := verdictIn(c, tt.layer, tt.err)
			if !errors.Is(err, tt.fails) || fmt.Sprint(got.Findings) != fmt.Sprint(tt.want) {
				t.Errorf("got %v, %v, want %v, %v", got, err, tt.want, tt.fails)
			}
		})
	}
}
