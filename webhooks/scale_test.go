package webhooks

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

func scaling(spec string) fields {
	return fields{"subResource": `"scale"`, "object": scaleOf(spec), "oldObject": scaleOf(`{"replicas":3}`)}
}

// lives makes the world hold one Etcd of the size.
func (f *fixture) lives(replicas int64, version string) {
	f.world.get = func(_ context.Context, resource, namespace, name string) (map[string]any, bool, error) {
		parent := object(replicas)
		parent["metadata"].(map[string]any)["resourceVersion"] = version
		return parent, resource == "etcds" && namespace == "ns" && name == "a", nil
	}
}

// A Scale is judged as the change that it would make to its parent.
//
func TestScaleIsJudgedOnTheParent(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		live, want int64
	}{
		{"out", `{"replicas":5}`, 3, 5},
		{"in", `{"replicas":1}`, 3, 1},
		{"to zero, which the wire leaves out", `{}`, 3, 0},
		{"on a parent that changed meanwhile", `{"replicas":5}`, 7, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.lives(tt.live, "8")
			if response := f.ask(t, reviewOf(scaling(tt.spec))); !response.Allowed {
				t.Fatalf("refused: %+v", plainOf(response.Result))
			}
			got := f.judge.last(t)
			before, after := object(tt.live), object(tt.want)
			before["metadata"].(map[string]any)["resourceVersion"] = "8"
			after["metadata"].(map[string]any)["resourceVersion"] = "8"
			if !reflect.DeepEqual(got.OldObject, before) || !reflect.DeepEqual(got.Object, after) || got.Subresource != "scale" {
				t.Errorf("the rules were asked about %s: %v -> %v", got.Subresource, got.OldObject, got.Object)
			}
		})
	}
}

func TestScaleInAnotherVersion(t *testing.T) {
	f := newFixture(t)
	f.lives(3, "7")
	scale := `{"apiVersion":"autoscaling/v2","kind":"Scale","spec":{"replicas":5}}`
	if response := f.ask(t, reviewOf(fields{"subResource": `"scale"`, "object": scale, "oldObject": scale})); !response.Allowed {
		t.Errorf("refused: %+v", plainOf(response.Result))
	}
}

func TestScaleRefused(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		get        func(ctx context.Context, resource, namespace, name string) (map[string]any, bool, error)
		want       plain
	}{
		{"the parent is gone", `{"replicas":5}`, func(context.Context, string, string, string) (map[string]any, bool, error) { return nil, false, nil },
			plain{404, "NotFound", `scaling etcds "a" is refused, since there is no such object in namespace "ns" any more (parent-not-found)`}},
		{"the parent cannot be read", `{"replicas":5}`, func(context.Context, string, string, string) (map[string]any, bool, error) {
			return nil, false, errors.New("connection refused")
		}, plain{503, "ServiceUnavailable", `could not read etcds "a" in namespace "ns": connection refused; nothing was changed, retry (live-read)`}},
		{"a size in words", `{"replicas":"five"}`, nil,
			plain{400, "BadRequest", "a Scale is refused, since its spec.replicas is not a whole number (bad-object)"}},
		{"half a member", `{"replicas":2.5}`, nil,
			plain{400, "BadRequest", "a Scale is refused, since its spec.replicas is not a whole number (bad-object)"}},
		{"a parent without a spec to set", `{"replicas":5}`, func(context.Context, string, string, string) (map[string]any, bool, error) {
			return map[string]any{"spec": "none"}, true, nil
		}, plain{500, "InternalError", "a Scale is refused, since its size could not be set on a copy of the object: value cannot be set because .spec is not a map[string]interface{} (bad-object)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.world.get = tt.get
			response := f.ask(t, reviewOf(scaling(tt.spec)))
			if got := plainOf(response.Result); response.Allowed || got != tt.want {
				t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, tt.want)
			}
			if len(f.judge.asked) > 0 {
				t.Error("the rules were asked")
			}
		})
	}
}
