package webhooks

import (
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/cel"
)

// The refusals that no rule makes. Each ends its message in parentheses, as a
// rule's ID does, and labels the decision metric.
const (
	badReview          = "bad-review"
	unknownResource    = "unknown-resource"
	unknownVersion     = "unknown-version"
	unknownSubresource = "unknown-subresource"
	unknownOperation   = "unknown-operation"
	badObject          = "bad-object"
	parentNotFound     = "parent-not-found"
	liveRead           = "live-read"
	accessReview       = "access-review"
	gateCrashed        = "gate-crashed"
	gateBusy           = "gate-busy"
)

// refusal is a request turned away before any rule has judged it.
type refusal struct {
	id      string
	outcome cel.Outcome
	code    int32
	reason  metav1.StatusReason
	message string
}

func (r *refusal) Error() string { return r.message }

// status is the refusal as the API server's clients know it.
func (r *refusal) status() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: r.message, Reason: r.reason, Code: r.code,
	}
}

// refuse turns away what the gate does not understand: the sender must change
// the request or the webhook configuration.
func refuse(id, format string, args ...any) error {
	return &refusal{id, cel.Deny, http.StatusBadRequest, metav1.StatusReasonBadRequest, text(id, format, args...)}
}

// refuseMissing turns away a change to an object that is not there.
func refuseMissing(id, format string, args ...any) error {
	return &refusal{id, cel.Deny, http.StatusNotFound, metav1.StatusReasonNotFound, text(id, format, args...)}
}

// refuseForNow turns away what cannot be judged at the moment; a retry may do.
func refuseForNow(id, format string, args ...any) error {
	return &refusal{id, cel.RuleError, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, text(id, format, args...)}
}

// refuseBroken turns away what we fail to judge by a fault of our own.
func refuseBroken(id, format string, args ...any) error {
	return &refusal{id, cel.RuleError, http.StatusInternalServerError, metav1.StatusReasonInternalError, text(id, format, args...)}
}

// refuseAs turns away an HTTP request that is no review.
func refuseAs(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &refusal{badReview, cel.RuleError, code, reason, text(badReview, format, args...)}
}

// asRefusal makes a refusal of any error: one that we did not foresee is a
// fault of our own.
func asRefusal(err error) *refusal {
	var no *refusal
	if !errors.As(err, &no) {
		errors.As(refuseBroken(gateCrashed, "the request could not be judged: %v", err), &no)
	}
	return no
}

func text(id, format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " (" + id + ")"
}
