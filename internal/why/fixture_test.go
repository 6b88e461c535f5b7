package why

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

const controller = "system:serviceaccount:quorate-system:quorate-controller"

// theGate is the product's own, compiled once.
var theGate = sync.OnceValues(func() (*Gate, error) {
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		return nil, err
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	if crds, err = cel.Inject(catalogue, crds); err != nil {
		return nil, err
	}
	return NewGate(catalogue, crds, controller)
})

// server answers as it is told, and keeps what it was asked.
type server struct {
	user     string
	live     *unstructured.Unstructured
	getErr   error
	answers  []error // one a dry run; the last one stays
	rights   map[string]bool
	sent     []Attempt
	world    map[string]map[string]any
	worldErr error
}

func (s *server) Whoami(context.Context) (authenticationv1.UserInfo, error) {
	if s.user == "" {
		return authenticationv1.UserInfo{}, errors.New("no idea")
	}
	return authenticationv1.UserInfo{Username: s.user}, nil
}

func (s *server) Get(_ context.Context, t Target) (*unstructured.Unstructured, error) {
	if s.getErr != nil {
		return nil, s.getErr
	}
	if s.live == nil {
		return nil, apierrors.NewNotFound(t.Resource.GroupResource(), t.Name)
	}
	return s.live, nil
}

func (s *server) DryRun(_ context.Context, _ Target, a Attempt) ([]string, error) {
	s.sent = append(s.sent, a)
	if len(s.answers) == 0 {
		return []string{"think twice"}, nil
	}
	answer := s.answers[min(len(s.sent), len(s.answers))-1]
	return nil, answer
}

func (s *server) Review(_ context.Context, spec authorizationv1.SelfSubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	a := spec.ResourceAttributes
	return authorizationv1.SubjectAccessReviewStatus{Allowed: s.rights[strings.Join([]string{a.Verb, a.Resource, a.Group, a.Namespace, a.Name}, " ")]}, nil
}

// worldOf reads the live world of the computed webhook.
type worldOf struct{ *server }

func (w worldOf) Get(_ context.Context, resource, _, name string) (map[string]any, bool, error) {
	object, ok := w.world[resource+"/"+name]
	return object, ok, w.worldErr
}

func (w worldOf) List(_ context.Context, resource, _ string) ([]any, error) {
	items := []any{}
	for name, object := range w.world {
		if strings.HasPrefix(name, resource+"/") {
			items = append(items, object)
		}
	}
	return items, w.worldErr
}

func quorate(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	json, err := yaml.YAMLToJSONStrict([]byte("apiVersion: quorate.dev/v1alpha1\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o
}

func targetOf(o *unstructured.Unstructured) Target {
	resource := strings.ToLower(o.GetKind()) + "s"
	return Target{Resource: schema.GroupVersionResource{Group: "quorate.dev", Version: "v1alpha1", Resource: resource}, Namespace: "data", Name: o.GetName()}
}

const scalingIn = `
kind: Etcd
metadata: {name: a, namespace: data, resourceVersion: "7"}
spec: {replicas: 3, storage: {size: 1Gi}}
status:
  conditions: [{type: ScaleOperationInProgress, status: "True", reason: ScalingIn, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
`

const noScaleOut = "Scaling out from 3 to 5 replicas is refused: ScalingIn is in progress. Wait until condition ScaleOperationInProgress is False, then scale out again. (scale-out-blocked)"

func crdRefusal() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: `Etcd.quorate.dev "a" is invalid: spec.replicas: Forbidden: ` + noScaleOut,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "FieldValueForbidden", Field: "spec.replicas", Message: "Forbidden: " + noScaleOut}}}}}
}
