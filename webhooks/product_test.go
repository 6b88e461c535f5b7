package webhooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

// product is a gate with the product's own rules in a world of our making.
type product struct {
	engine  *cel.Engine
	options Options
}

// newProduct compiles the rules, which takes a while: once for many reviews.
func newProduct(t testing.TB) *product {
	t.Helper()
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	catalogue.Group = "quorate.dev"
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	p := &product{options: f.options}
	if p.engine, err = cel.New(catalogue, crds); err != nil {
		t.Fatal(err)
	}
	if p.options.Resources, err = ResourcesOf(crds); err != nil {
		t.Fatal(err)
	}
	p.options.Live, p.options.Access = oddWorld(t), sensible{}
	return p
}

// check has the product's gate answer the body, and finds fault with the answer
// and with what its engine said on the way.
func (p *product) check(t *testing.T, contentType string, body []byte) {
	t.Helper()
	watched := &watchedEngine{Engine: p.engine}
	p.options.Judge = watched
	g, err := New(p.options)
	if err != nil {
		t.Fatal(err)
	}
	w := send(g, contentType, body)
	if err := errors.Join(faultOf(w, watched.asked), errors.Join(watched.faults...)); err != nil {
		t.Errorf("%v\n%s\nto %s", err, w.Body, body)
	}
}

// watchedEngine is the engine, and what was wrong with its verdicts.
type watchedEngine struct {
	*cel.Engine
	asked  int32
	faults []error
}

func (e *watchedEngine) JudgeAs(ctx context.Context, r *cel.Request, controller bool) cel.Verdict {
	e.asked++
	v := e.Engine.JudgeAs(ctx, r, controller)
	e.faults = append(e.faults, verdictFaults(r, v)...)
	return v
}

func (e *watchedEngine) LiveReads(r *cel.Request) (map[string]cel.LiveTarget, error) {
	targets, err := e.Engine.LiveReads(r)
	if err != nil && crashText(err.Error()) {
		e.faults = append(e.faults, err)
	}
	return targets, err
}

// verdictFaults are an allowance of what no rule must be asked about, and a
// failure that is no rule's: the engine's own, but for a budget that is spent,
// or a crash within a rule's evaluation.
func verdictFaults(r *cel.Request, v cel.Verdict) (faults []error) {
	if problem := malformed(r); problem != nil && v.Outcome == cel.Allow {
		faults = append(faults, errors.New("allowed "+problem.Error()))
	}
	for _, f := range v.Findings {
		if crashText(f.Message) || f.Rule == cel.EngineRule && !strings.Contains(f.Message, "running out of cost budget") {
			faults = append(faults, errors.New(f.Rule+" failed: "+f.Message))
		}
	}
	return faults
}

// crashText: the engine and cel-go catch a panic, and say so in text alone.
func crashText(message string) bool {
	return strings.Contains(message, "the engine failed: ") || strings.HasPrefix(message, "internal error: ")
}

// sensible grants the override verb to everybody but Mallory.
type sensible struct{}

func (sensible) Review(_ context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	return authorizationv1.SubjectAccessReviewStatus{Allowed: spec.User != "mallory"}, nil
}

// oddWorld holds whole objects under most names, and hostile ones under odd*, in
// namespaces odd* in every list.
func oddWorld(t testing.TB) world {
	t.Helper()
	whole := wholeObjects(t)
	odd := map[string][]any{}
	for resource, object := range whole {
		odd[resource] = append(odd[resource], object)
		for _, h := range variantsOf(object, atTop) {
			odd[resource] = append(odd[resource], h)
		}
	}
	return world{
		get: func(_ context.Context, resource, _, name string) (map[string]any, bool, error) {
			switch {
			case strings.HasPrefix(name, "gone"):
				return nil, false, nil
			case strings.HasPrefix(name, "away"):
				return nil, false, errors.New("planted")
			case strings.HasPrefix(name, "odd"):
				return odd[resource][len(name)%len(odd[resource])].(map[string]any), true, nil
			}
			return whole[resource], whole[resource] != nil, nil
		},
		list: func(_ context.Context, resource, namespace string) ([]any, error) {
			if strings.HasPrefix(namespace, "odd") {
				return odd[resource], nil
			}
			return []any{whole[resource]}, nil
		},
	}
}

// Every value of every kind replaced by each hostile one: the product's rules,
// their live reads and their messages answer all of it without a crash.
func TestHostileShapes(t *testing.T) {
	p := newProduct(t)
	reviews := hostileReviews(t, everywhere)
	if len(reviews) < 5000 {
		t.Errorf("%d reviews, want at least 5,000", len(reviews))
	}
	for _, review := range reviews {
		p.check(t, "application/json", []byte(review))
	}
}

// The checks above find what they are there for.
func TestVerdictFaults(t *testing.T) {
	sound := &cel.Request{Operation: cel.Create, Resource: "etcds", Namespace: "ns", Object: map[string]any{"apiVersion": "quorate.dev/v1alpha1", "kind": "Etcd"}}
	failing := func(rule, message string) cel.Verdict {
		return cel.VerdictOf([]cel.Finding{{Rule: rule, Outcome: cel.RuleError, Message: message}})
	}
	for _, tt := range []struct {
		name    string
		request *cel.Request
		verdict cel.Verdict
		want    int
	}{
		{"sound", sound, cel.VerdictOf(nil), 0},
		{"a rule that fails", sound, failing("r", "no such key: status"), 0},
		{"a budget that is spent", sound, failing(cel.EngineRule, "validation failed due to running out of cost budget, no further validation rules will be run"), 0},
		{"an engine that crashed", sound, failing(cel.EngineRule, "the engine failed: planted"), 1},
		{"a rule that crashed", sound, failing("r", "internal error: planted"), 1},
		{"an engine that fails", sound, failing(cel.EngineRule, "planted"), 1},
		{"an accident", &cel.Request{}, cel.VerdictOf(nil), 1},
	} {
		if got := verdictFaults(tt.request, tt.verdict); len(got) != tt.want {
			t.Errorf("%s: %v, want %d", tt.name, got, tt.want)
		}
	}
}
