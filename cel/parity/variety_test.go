package parity

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel"
)

// TestPairsAreVaried: each trait that rules could stumble over occurs.
func TestPairsAreVaried(t *testing.T) {
	traits := map[string]func(r *cel.Request) bool{
		"nothing changed":   func(r *cel.Request) bool { return reflect.DeepEqual(r.Object, r.OldObject) },
		"members reordered": func(r *cel.Request) bool { return reordered(members(r.OldObject), members(r.Object)) },
		"spec.etcd gone": func(r *cel.Request) bool {
			return at(r.OldObject, "spec", "etcd") != nil && at(r.Object, "spec", "etcd") == nil
		},
		"no status": func(r *cel.Request) bool { return r.OldObject != nil && r.OldObject["status"] == nil },
		"status, no conditions": func(r *cel.Request) bool {
			return at(r.OldObject, "status") != nil && at(r.OldObject, "status", "conditions") == nil
		},
		"no conditions in a list": func(r *cel.Request) bool {
			list, ok := at(r.OldObject, "status", "conditions").([]any)
			return ok && len(list) == 0
		},
		"0 replicas": func(r *cel.Request) bool { return at(r.Object, "spec", "replicas") == int64(0) },
		"9 replicas": func(r *cel.Request) bool { return at(r.Object, "spec", "replicas") == int64(9) },
		"the longest name": func(r *cel.Request) bool {
			return at(r.Object, "spec", "clusterRef", "name") == strings.Repeat("a", 253)
		},
		"not of ASCII":               func(r *cel.Request) bool { return at(r.Object, "spec", "etcdRestore", "confirm") == "ünïcode 😀" },
		"a text instead of a number": func(r *cel.Request) bool { return at(r.Object, "spec", "storage", "size") == "8Gi" },
		"a number instead of a text": func(r *cel.Request) bool { return at(r.Object, "spec", "storage", "size") == int64(1) },
		"by the controller":          func(r *cel.Request) bool { return r.User.Username == controller },
		"dry run":                    func(r *cel.Request) bool { return r.DryRun },
		"annotated":                  func(r *cel.Request) bool { return at(r.OldObject, "metadata", "annotations") != nil },
	}
	seen := map[string]bool{}
	asSent := 0
	for p := range productGenerator(t).Pairs(sample, nil) {
		for name, has := range traits {
			seen[name] = seen[name] || has(p.Request)
		}
		if p.AsSent {
			asSent++
		}
	}
	for name := range traits {
		if !seen[name] {
			t.Errorf("no pair in %d: %s", sample, name)
		}
	}
	if asSent == 0 {
		t.Error("no status is as it was sent")
	}
}

// TestSentBecomesTheObject: what is sent holds what the API server prunes, and
// becomes the new object once that is gone.
func TestSentBecomesTheObject(t *testing.T) {
	g := productGenerator(t)
	pruned := 0
	for p := range g.Pairs(sample, nil) {
		r := p.Request
		if r.Operation == cel.Delete {
			if p.Sent != nil {
				t.Fatalf("pair %d: a deletion sends %v", p.Number, p.Sent)
			}
			continue
		}
		k := g.kinds[slices.IndexFunc(g.kinds, func(k *kind) bool { return k.resource == r.Resource })]
		got := k.decoded(p.Sent)
		if !reflect.DeepEqual(got, p.Sent) {
			pruned++
		}
		switch {
		case r.Operation == cel.Create:
			got = withPart(got, nil, "status")
		case !p.AsSent:
			got = stored(r.Subresource, got, r.OldObject)
		}
		if !reflect.DeepEqual(got, r.Object) {
			t.Fatalf("pair %d: %v becomes %v, want %v", p.Number, p.Sent, got, r.Object)
		}
	}
	if pruned < sample/4 {
		t.Errorf("%d of %d objects are sent with something to prune or default", pruned, sample)
	}
}

func at(object map[string]any, path ...string) any {
	var value any = object
	for _, step := range path {
		parent, _ := value.(map[string]any)
		value = parent[step]
	}
	return value
}

func members(object map[string]any) []any {
	list, _ := at(object, "spec", "etcd", "bootstrapWithExistingCluster", "members").([]any)
	return list
}

func reordered(a, b []any) bool {
	missing := func(x any) bool { return !slices.ContainsFunc(b, func(y any) bool { return reflect.DeepEqual(x, y) }) }
	return len(a) == len(b) && !reflect.DeepEqual(a, b) && !slices.ContainsFunc(a, missing)
}
