package suite

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
)

// overlay merges a case's value onto the default's. Maps merge deeply, all else
// replaces. A null in top removes the field, or stays where keepNull is set: a
// JSON merge patch needs it.
func overlay(base, top any, keepNull bool) any {
	topMap, ok := top.(map[string]any)
	if !ok {
		return top
	}
	baseMap, _ := base.(map[string]any)
	merged := make(map[string]any, len(baseMap)+len(topMap))
	maps.Copy(merged, baseMap)
	for key, value := range topMap {
		if value == nil && !keepNull {
			delete(merged, key)
			continue
		}
		merged[key] = overlay(merged[key], value, keepNull)
	}
	return merged
}

// mergePatch applies a JSON merge patch (RFC 7396) to a copy of the object.
func mergePatch(object, patch map[string]any) map[string]any {
	merged, _ := overlay(runtime.DeepCopyJSON(object), patch, false).(map[string]any)
	return runtime.DeepCopyJSON(merged)
}
