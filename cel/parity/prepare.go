package parity

import (
	"maps"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/cel"
)

// decoded is what the API server makes of an object that it reads: unknown fields
// and nulls pruned, defaults filled in.
func decoded(s *schema.Structural, object map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(object)
	metadata := out["metadata"]
	pruning.Prune(out, s, true)
	out["metadata"] = metadata
	defaulting.PruneNonNullableNullsWithoutDefaults(out, s)
	defaulting.Default(out, s)
	return out
}

// stored is what the API server keeps of an update by its subresource before it
// judges any rule: on the object itself the status stays, on a subresource all
// but its part.
func stored(subresource string, object, old map[string]any) map[string]any {
	switch subresource {
	case cel.Main:
		return withPart(object, old, "status")
	case cel.Status:
		return withPart(old, object, "status")
	}
	out := runtime.DeepCopyJSON(old)
	spec, _ := out["spec"].(map[string]any)
	asked, _ := object["spec"].(map[string]any)
	if spec != nil && asked["replicas"] != nil {
		spec["replicas"] = asked["replicas"]
	}
	return out
}

// withPart takes one top-level field from another object, absence included.
func withPart(object, from map[string]any, name string) map[string]any {
	out := maps.Clone(object)
	delete(out, name)
	if part, ok := from[name]; ok {
		out[name] = runtime.DeepCopyJSONValue(part)
	}
	return out
}
