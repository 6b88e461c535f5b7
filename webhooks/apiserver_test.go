package webhooks

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"github.com/quorate/quorate/cel"
)

// What a user of the API server gets: for a denial, a 422 with the causes of a
// CRD rule, which kubectl prints as `The Etcd "a" is invalid: FIELD: MESSAGE`.
func TestDenialThroughTheAPIServer(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = denying(blocked)
	server := newAPIServer(t, f)
	err := server.Validate(t.Context(), etcdChange(), server.objects)
	var refused *apierrors.StatusError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
	got := refused.ErrStatus
	want := plain{422, "Invalid", `admission webhook "gate.quorate.dev" denied the request: Etcd.quorate.dev "a" is invalid: spec.replicas: Forbidden: ` + blockedText}
	details := &metav1.StatusDetails{Name: "a", Group: "quorate.dev", Kind: "Etcd", Causes: []metav1.StatusCause{{Type: "FieldValueForbidden", Message: "Forbidden: " + blockedText, Field: "spec.replicas"}}}
	if plainOf(&got) != want || !reflect.DeepEqual(got.Details, details) {
		t.Errorf("got\n%+v\n%+v, want\n%+v\n%+v", plainOf(&got), got.Details, want, details)
	}
}

// recorded collects warnings.
type recorded struct {
	mu    sync.Mutex
	texts []string
}

func (r *recorded) AddWarning(_, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

//
func TestAllowedThroughTheAPIServer(t *testing.T) {
	f := newFixture(t)
	f.lives(3, "7")
	server := newAPIServer(t, f)
	warnings := &recorded{}
	ctx := warning.WithWarningRecorder(t.Context(), warnings)
	if err := server.Validate(ctx, etcdChange(), server.objects); err != nil {
		t.Fatal(err)
	}
	if want := []string{"spec.replicas: 4 members survive the loss of 1, no more than 3 would: use 3 or 5"}; !reflect.DeepEqual(warnings.texts, want) {
		t.Errorf("warned %q, want %q", warnings.texts, want)
	}
	// A size of zero is not on the wire.
	for _, size := range []int32{5, 0} {
		if err := server.Validate(ctx, scaleChange(3, size), server.objects); err != nil {
			t.Fatal(err)
		}
		if got := f.judge.last(t); !reflect.DeepEqual(got.Object, withVersion(object(int64(size)), "7")) {
			t.Errorf("scaled to %d, judged as %v", size, got.Object)
		}
	}
}

func withVersion(object map[string]any, version string) map[string]any {
	object["metadata"].(map[string]any)["resourceVersion"] = version
	return object
}

// Every other refusal reaches the user with its text, too.
func TestTextsThroughTheAPIServer(t *testing.T) {
	const prefix = `admission webhook "gate.quorate.dev" denied the request: `
	for _, tt := range []struct {
		name   string
		bend   func(*fixture)
		change admission.Attributes
		want   plain
	}{
		{"rule error", func(f *fixture) {
			f.judge.verdict = denying(cel.Finding{Rule: "r", Outcome: cel.RuleError, Message: "no such key: status"})
		}, etcdChange(),
			plain{500, "InternalError", prefix + "rule r could not be evaluated: no such key: status"}},
		{"the world is away", func(f *fixture) {
			f.world.get = func(context.Context, string, string, string) (map[string]any, bool, error) {
				return nil, false, errors.New("connection refused")
			}
		}, scaleChange(3, 5), plain{503, "ServiceUnavailable", prefix + `could not read etcds "a" in namespace "ns": connection refused; nothing was changed, retry (live-read)`}},
		{"the parent is gone", func(*fixture) {}, scaleChange(3, 5),
			plain{404, "NotFound", prefix + `scaling etcds "a" is refused, since there is no such object in namespace "ns" any more (parent-not-found)`}},
		{"an unknown subresource", func(*fixture) {}, change(&unstructured.Unstructured{Object: object(4)}, &unstructured.Unstructured{Object: object(3)}, schema.GroupVersionKind{Group: "quorate.dev", Version: "v1alpha1", Kind: "Etcd"}, "finalize"),
			plain{400, "BadRequest", prefix + `subresource "finalize" of etcds.quorate.dev is refused, since no rule knows it: use a release of Quorate that does (unknown-subresource)`}},
		{"a crash", func(f *fixture) { f.judge.verdict = func(*cel.Request) cel.Verdict { panic("planted") } }, etcdChange(),
			plain{500, "InternalError", prefix + "the gate crashed over this request, which is refused; nothing was changed: see the manager's log (gate-crashed)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			tt.bend(f)
			server := newAPIServer(t, f)
			var refused *apierrors.StatusError
			if err := server.Validate(t.Context(), tt.change, server.objects); !errors.As(err, &refused) || plainOf(&refused.ErrStatus) != tt.want {
				t.Errorf("got\n%v, want\n%+v", err, tt.want)
			}
		})
	}
}

// Even what is no review is told to the user in our words: the API server reads
// the Status that comes with an HTTP error.
func TestNoReviewThroughTheAPIServer(t *testing.T) {
	f := newFixture(t)
	f.spoil = func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	server := newAPIServer(t, f)
	err := server.Validate(t.Context(), etcdChange(), server.objects)
	want := `Internal error occurred: failed calling webhook "gate.quorate.dev": failed to call webhook: content type "text/plain" is not read here: send application/json (bad-review)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v, want\n%s", err, want)
	}
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
		t.Errorf("got %v", err)
	}
}
