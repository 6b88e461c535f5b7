package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/webhooks"
)

// handlerRows goes from a review's bytes to an answer's bytes.
func handlerRows(ctx context.Context) ([]Row, error) {
	s, err := newSubject()
	if err != nil {
		return nil, err
	}
	body, err := s.review()
	if err != nil {
		return nil, err
	}
	ours, err := s.gate()
	if err != nil {
		return nil, err
	}
	stock, err := stockHandler(ctx, s.crd)
	if err != nil {
		return nil, err
	}
	const name = "controller-runtime, stock validator"
	return timed("handler", side{"gate", answers(ours, body)}, []side{{name, answers(stock, body)}}, map[string]float64{name: 0.6})
}

// review is the subject's request as an API server sends it.
func (s *subject) review() ([]byte, error) {
	object, err := json.Marshal(s.request.Object)
	if err != nil {
		return nil, fmt.Errorf("write the review: %w", err)
	}
	old, err := json.Marshal(s.request.OldObject)
	if err != nil {
		return nil, fmt.Errorf("write the review: %w", err)
	}
	kind := metav1.GroupVersionKind{Group: s.catalogue.Group, Version: "v1alpha1", Kind: "Etcd"}
	resource := metav1.GroupVersionResource{Group: s.catalogue.Group, Version: "v1alpha1", Resource: "etcds"}
	body, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "0b4bd9e5-2b6e-4d27-a4d7-0e6b3c1d9f10", Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
			Name: "main", Namespace: "default", Operation: admissionv1.Update,
			UserInfo: authenticationv1.UserInfo{Username: "alice@example.com", Groups: []string{"system:authenticated"}},
			Object:   runtime.RawExtension{Raw: object}, OldObject: runtime.RawExtension{Raw: old},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the review: %w", err)
	}
	return body, nil
}

func (s *subject) gate() (http.Handler, error) {
	crds := []*apiextensionsv1.CustomResourceDefinition{s.crd}
	engine, err := cel.New(s.catalogue, crds)
	if err != nil {
		return nil, err
	}
	resources, err := webhooks.ResourcesOf(crds)
	if err != nil {
		return nil, err
	}
	metrics, err := webhooks.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	return webhooks.New(webhooks.Options{
		Judge: engine, Resources: resources, Live: noWorld{}, Access: noWorld{},
		Controller: "system:serviceaccount:quorate-system:quorate-controller", Metrics: metrics,
	})
}

// noWorld: none of the compared rules looks at the live world.
type noWorld struct{}

var errNoWorld = fmt.Errorf("%w: it asked for the live world", errVerdict)

func (noWorld) Get(context.Context, string, string, string) (map[string]any, bool, error) {
	return nil, false, errNoWorld
}
func (noWorld) List(context.Context, string, string) ([]any, error) { return nil, errNoWorld }
func (noWorld) Review(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	return authorizationv1.SubjectAccessReviewStatus{}, errNoWorld
}

// stockHandler is what one gets by the usual means: controller-runtime's handler
// around the API server's validator.
func stockHandler(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (http.Handler, error) {
	v, sts, err := stockValidator(crd)
	if err != nil {
		return nil, err
	}
	return &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
		var object, old unstructured.Unstructured
		if err := object.UnmarshalJSON(r.Object.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if err := old.UnmarshalJSON(r.OldObject.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if err := stockJudge(ctx, v, sts, object.Object, old.Object); err != nil {
			return admission.Denied(err.Error())
		}
		return admission.Allowed("")
	})}, nil
}

// answers has the handler answer the body once, and wants an allowance.
func answers(h http.Handler, body []byte) func() error {
	return func() error {
		r := httptest.NewRequest(http.MethodPost, webhooks.Path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return allowance(w.Body)
	}
}

var allowedMark = []byte(`"allowed":true`)

func allowance(body io.Reader) error {
	answer, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if !bytes.Contains(answer, allowedMark) {
		return fmt.Errorf("%w: %s", errVerdict, answer)
	}
	return nil
}
