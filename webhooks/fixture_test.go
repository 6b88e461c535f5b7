package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/quorate/quorate/cel"
)

const controller = "system:serviceaccount:quorate-system:quorate-controller"

// judge records what it was asked and gives the verdict that it was told to.
type judge struct {
	mu       sync.Mutex
	asked    []*cel.Request
	as       []bool
	verdict  func(*cel.Request) cel.Verdict
	reads    map[string]cel.LiveTarget
	readsErr error
}

func (j *judge) JudgeAs(_ context.Context, r *cel.Request, controller bool) cel.Verdict {
	j.mu.Lock()
	j.asked, j.as = append(j.asked, r), append(j.as, controller)
	j.mu.Unlock()
	if j.verdict == nil {
		return cel.Verdict{Outcome: cel.Allow}
	}
	return j.verdict(r)
}

func (j *judge) LiveReads(*cel.Request) (map[string]cel.LiveTarget, error) {
	return j.reads, j.readsErr
}

func (j *judge) last(t *testing.T) *cel.Request {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.asked) == 0 {
		t.Fatal("the rules were not asked")
	}
	return j.asked[len(j.asked)-1]
}

func denying(findings ...cel.Finding) func(*cel.Request) cel.Verdict {
	return func(*cel.Request) cel.Verdict { return cel.VerdictOf(findings) }
}

// world is a live world that can fail.
type world struct {
	get  func(ctx context.Context, resource, namespace, name string) (map[string]any, bool, error)
	list func(ctx context.Context, resource, namespace string) ([]any, error)
}

func (w world) Get(ctx context.Context, resource, namespace, name string) (map[string]any, bool, error) {
	if w.get == nil {
		return nil, false, nil
	}
	return w.get(ctx, resource, namespace, name)
}

func (w world) List(ctx context.Context, resource, namespace string) ([]any, error) {
	if w.list == nil {
		return []any{}, nil
	}
	return w.list(ctx, resource, namespace)
}

// reviewer answers access reviews and records them.
type reviewer struct {
	mu     sync.Mutex
	asked  []authorizationv1.SubjectAccessReviewSpec
	answer func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error)
}

func (r *reviewer) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	r.mu.Lock()
	r.asked = append(r.asked, spec)
	r.mu.Unlock()
	if r.answer == nil {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil
	}
	return r.answer(ctx)
}

// fixture is a gate whose surroundings a test can bend.
type fixture struct {
	judge    *judge
	world    *world
	reviewer *reviewer
	registry *prometheus.Registry
	options  Options
	// spoil changes a request on its way from the API server.
	spoil func(*http.Request)
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{judge: &judge{}, world: &world{}, reviewer: &reviewer{}, registry: prometheus.NewRegistry(), spoil: func(*http.Request) {}}
	metrics, err := NewMetrics(f.registry)
	if err != nil {
		t.Fatal(err)
	}
	f.options = Options{
		Judge: f.judge, Resources: knownResources(t), Live: f.world, Access: f.reviewer,
		Controller: controller, Metrics: metrics, Log: logr.Discard(),
	}
	return f
}

func (f *fixture) gate(t testing.TB) *Gate {
	t.Helper()
	g, err := New(f.options)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ask sends a review and returns the answer to it.
func (f *fixture) ask(t testing.TB, body string) *admissionv1.AdmissionResponse {
	t.Helper()
	answer := f.post(t, body)
	if answer.Code != http.StatusOK {
		t.Fatalf("HTTP status %d: %s", answer.Code, answer.Body)
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil {
		t.Fatalf("the answer is no JSON: %v", err)
	}
	if review.Kind != "AdmissionReview" || review.APIVersion != "admission.k8s.io/v1" || review.Response == nil || review.Response.UID != "u-1" {
		t.Fatalf("not an answer to the request: %s", answer.Body)
	}
	return review.Response
}

func (f *fixture) post(t testing.TB, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, Path, bytes.NewBufferString(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.gate(t).ServeHTTP(w, r)
	return w
}
