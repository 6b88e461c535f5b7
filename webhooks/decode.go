package webhooks

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
)

const reviewKind = "AdmissionReview"

var reviewVersion = admissionv1.SchemeGroupVersion.String()

// review is the part of an AdmissionReview that a verdict depends on. The
// objects are decoded in the same pass, to the values that rules see: whole
// numbers are int64, as in the API server.
type review struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Request    *reviewRequest `json:"request"`
}

type reviewRequest struct {
	UID         string                      `json:"uid"`
	Resource    metav1.GroupVersionResource `json:"resource"`
	SubResource string                      `json:"subResource"`
	Name        string                      `json:"name"`
	Namespace   string                      `json:"namespace"`
	Operation   string                      `json:"operation"`
	UserInfo    authenticationv1.UserInfo   `json:"userInfo"`
	Object      map[string]any              `json:"object"`
	OldObject   map[string]any              `json:"oldObject"`
	DryRun      bool                        `json:"dryRun"`
}

// Why a body is no review that could be answered. None of them has a UID that
// an answer could carry, so they are HTTP errors.
var (
	errNotJSON       = errors.New("the body is not valid JSON")
	errNoReview      = errors.New("the body is not an AdmissionReview of admission.k8s.io/v1")
	errNoRequest     = errors.New("the AdmissionReview has no request")
	errNoUID         = errors.New("the AdmissionReview's request has no uid")
	errWrongType     = errors.New("a field of the AdmissionReview has the wrong type")
	errUnanswerables = []error{errNotJSON, errNoReview, errNoRequest, errNoUID}
)

// answerable reports whether an AdmissionReview can be answered in kind.
func answerable(err error) bool {
	for _, e := range errUnanswerables {
		if errors.Is(err, e) {
			return false
		}
	}
	return true
}

// decode reads a review. With errWrongType the UID has been read and the rest
// must not be judged; with any other error there is nothing to answer to.
func decode(body []byte) (*review, error) {
	r := &review{}
	err := json.UnmarshalCaseSensitivePreserveInts(body, r)
	if syntax, _ := json.SyntaxErrorOffset(err); syntax {
		return nil, fmt.Errorf("%w: %w", errNotJSON, err)
	}
	switch {
	case r.Kind != reviewKind || r.APIVersion != reviewVersion:
		return nil, fmt.Errorf("%w: it says apiVersion %q and kind %q", errNoReview, r.APIVersion, r.Kind)
	case r.Request == nil:
		return nil, errNoRequest
	case r.Request.UID == "":
		return nil, errNoUID
	case err != nil:
		return r, fmt.Errorf("%w: %w", errWrongType, err)
	}
	return r, nil
}
