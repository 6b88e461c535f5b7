package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/internal/why"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/webhooks"
)

// thisVersion is what this binary would install, and the probe with the warning
// that its own gate gives.
func thisVersion(ctx context.Context, names doctor.Names) (doctor.Expected, doctor.Probe, error) {
	catalogue, err := loadRules(embeddedRules)
	if err != nil {
		return doctor.Expected{}, doctor.Probe{}, err
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return doctor.Expected{}, doctor.Probe{}, err
	}
	engine, err := cel.New(catalogue, crds)
	if err != nil {
		return doctor.Expected{}, doctor.Probe{}, fmt.Errorf("compile the rules: %w", err)
	}
	policies, bindings, err := cel.Policies(catalogue, names.Controller())
	if err != nil {
		return doctor.Expected{}, doctor.Probe{}, fmt.Errorf("write the policies: %w", err)
	}
	probe, err := newProbe(ctx, engine, crds, names)
	return doctor.Expected{Group: catalogue.Group, CRDs: crds, Policies: policies, Bindings: bindings,
		Handles: engine.Handles, Minors: cel.SupportedMinors}, probe, err
}

// newProbe makes an Etcd of an even size, which the webhook allows with a warning.
func newProbe(ctx context.Context, engine *cel.Engine, crds []*apiextensionsv1.CustomResourceDefinition, names doctor.Names) (doctor.Probe, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gateVersion.String(), "kind": "Etcd",
		"metadata": map[string]any{"generateName": "quorate-doctor-", "namespace": names.Namespace},
		"spec":     map[string]any{"replicas": int64(2)},
	}}
	warnings, err := warningsOf(ctx, engine, crds, names.Controller(), object)
	if err != nil {
		return doctor.Probe{}, fmt.Errorf("ask this version's own gate about the probe: %w", err)
	}
	if len(warnings) == 0 {
		return doctor.Probe{}, errSilentGate
	}
	target := why.Target{Resource: gateVersion.WithResource("etcds"), Namespace: names.Namespace}
	return doctor.Probe{Target: target, Object: object, Warning: warnings[0]}, nil
}

var (
	errSilentGate = errors.New("this version's own gate has no word for the probe")
	errNoWorld    = errors.New("the probe needs nothing of the live world")
)

// noWorld stands for the API server where a gate needs to ask it nothing.
type noWorld struct{}

func (noWorld) Get(context.Context, string, string, string) (map[string]any, bool, error) {
	return nil, false, errNoWorld
}

func (noWorld) List(context.Context, string, string) ([]any, error) { return nil, errNoWorld }

func (noWorld) Review(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	return authorizationv1.SubjectAccessReviewStatus{}, errNoWorld
}

// warningsOf asks a gate in this process what it says of creating the object.
func warningsOf(ctx context.Context, engine *cel.Engine, crds []*apiextensionsv1.CustomResourceDefinition, controller string, object *unstructured.Unstructured) ([]string, error) {
	resources, err := webhooks.ResourcesOf(crds)
	if err != nil {
		return nil, err
	}
	metrics, err := webhooks.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	gate, err := webhooks.New(webhooks.Options{Judge: engine, Resources: resources, Live: noWorld{}, Access: noWorld{}, Controller: controller, Metrics: metrics})
	if err != nil {
		return nil, err
	}
	return postReview(ctx, gate, object)
}

// postReview sends the object to a handler as an API server would.
func postReview(ctx context.Context, handler http.Handler, object *unstructured.Unstructured) ([]string, error) {
	encoded, err := object.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode the object: %w", err)
	}
	kind, resource := metav1.GroupVersionKind(object.GroupVersionKind()), metav1.GroupVersionResource(gateVersion.WithResource("etcds"))
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{UID: "probe", Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
			Namespace: object.GetNamespace(), Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: encoded}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the review: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/gate", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer := &kept{header: http.Header{}}
	handler.ServeHTTP(answer, request)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(answer.body.Bytes(), &review); err != nil || review.Response == nil {
		return nil, fmt.Errorf("read the gate's answer %q: %w", answer.body.String(), errors.Join(err, errSilentGate))
	}
	return review.Response.Warnings, nil
}

// kept is a response that stays in memory.
type kept struct {
	header http.Header
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }
func (k *kept) WriteHeader(int)             {}
