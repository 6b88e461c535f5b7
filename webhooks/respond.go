package webhooks

import (
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/quorate/quorate/cel"
)

// The audit annotations, under the webhook's name in the audit log.
const (
	auditVerdict = "verdict"
	auditRules   = "rules"
	auditExempt  = "exempt"
	// auditOrderedBy is who ordered an operation, which may lose what was written.
	auditOrderedBy = "ordered-by"
)

// respondTo puts a verdict into an answer. A denial is a 422 with causes, built
// by the API server's own constructors, so that kubectl prints it as it prints
// the refusal of a CRD rule, word for word.
func respondTo(r *cel.Request, res resource, v cel.Verdict) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{
		Allowed:          v.Outcome == cel.Allow && len(v.Findings) == 0,
		Warnings:         v.Warnings,
		AuditAnnotations: map[string]string{auditVerdict: string(v.Outcome)},
	}
	if response.Allowed {
		return response
	}
	response.AuditAnnotations[auditRules] = strings.Join(rulesOf(v.Findings), ",")
	response.Result = invalid(r, res, v.Findings)
	if v.Outcome != cel.Deny {
		response.Result = unevaluated(response.Result, v.Findings)
	}
	return response
}

// auditOrder says who ordered an operation that is let in.
func auditOrder(response *admissionv1.AdmissionResponse, r *cel.Request) {
	if response.Allowed && r.Operation == cel.Create && r.Resource == operations && r.Subresource == "" {
		response.AuditAnnotations[auditOrderedBy] = r.User.Username
	}
}

// operations is the resource of TalosOperations.
const operations = "talosoperations"

// respondWith puts a refusal into an answer.
func respondWith(r *refusal) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{
		Result:           r.status(),
		AuditAnnotations: map[string]string{auditVerdict: string(r.outcome), auditRules: r.id},
	}
}

func invalid(r *cel.Request, res resource, findings []cel.Finding) *metav1.Status {
	errs := make(field.ErrorList, 0, len(findings))
	for _, f := range findings {
		errs = append(errs, fieldError(f))
	}
	return &apierrors.NewInvalid(res.kind.GroupKind(), shownName(r), errs).ErrStatus
}

// fieldError is a finding as CRD validation reports it. The value is left out,
// as it is there for a rule that stands on an object or a list.
func fieldError(f cel.Finding) *field.Error {
	e := &field.Error{Type: field.ErrorTypeInvalid, Field: f.Field, Detail: f.Message, BadValue: field.OmitValueType{}}
	if f.Outcome == cel.RuleError {
		e.Type, e.Detail = field.ErrorTypeInternal, unevaluatedText(f)
	} else if t := field.ErrorType(f.Reason); slices.Contains(fieldReasons, t) {
		e.Type = t
	}
	if e.Field == "" {
		e.Field = (*field.Path)(nil).String()
	}
	return e
}

// fieldReasons are the reasons that a rule can give beside the default, which
// is FieldValueInvalid.
var fieldReasons = []field.ErrorType{field.ErrorTypeForbidden, field.ErrorTypeRequired, field.ErrorTypeDuplicate}

// unevaluated makes a refusal of a rule that failed: not the sender's fault, so
// no 422. kubectl shows the message alone, which therefore carries everything.
func unevaluated(s *metav1.Status, findings []cel.Finding) *metav1.Status {
	s.Code, s.Reason = http.StatusInternalServerError, metav1.StatusReasonInternalError
	var failed, denied []string
	for _, f := range findings {
		if f.Outcome == cel.RuleError {
			failed = append(failed, unevaluatedText(f))
		} else {
			denied = append(denied, fieldError(f).Error())
		}
	}
	if len(failed) == 0 {
		failed = []string{text(gateCrashed, "the rules gave no verdict")}
	}
	s.Message = strings.Join(failed, "; ")
	if len(denied) > 0 {
		s.Message += "; besides, refused: " + strings.Join(denied, "; ")
	}
	return s
}

func unevaluatedText(f cel.Finding) string {
	return "rule " + f.Rule + " could not be evaluated: " + f.Message
}

// shownName is the name to print: the object's, or what it is generated from.
func shownName(r *cel.Request) string {
	object := r.Object
	if object == nil {
		object = r.OldObject
	}
	for _, name := range []string{r.Name, metadataString(object, "name")} {
		if name != "" {
			return name
		}
	}
	return metadataString(object, "generateName")
}

// rulesOf lists the rules behind findings, each once, in their order.
func rulesOf(findings []cel.Finding) []string {
	var ids []string
	for _, f := range findings {
		if !slices.Contains(ids, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

// envelope is the answer on the wire.
type envelope struct {
	Kind       string                         `json:"kind"`
	APIVersion string                         `json:"apiVersion"`
	Response   *admissionv1.AdmissionResponse `json:"response"`
}

func seal(uid string, r *admissionv1.AdmissionResponse) envelope {
	r.UID = types.UID(uid)
	return envelope{Kind: reviewKind, APIVersion: reviewVersion, Response: r}
}
