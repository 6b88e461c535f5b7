package cel

import (
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// generator makes objects of a schema: mostly valid ones from a few values, so
// that old and new meet, and now and then nulls, wrong types and unknown fields.
type generator struct{ *rand.Rand }

func (g generator) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g generator, values ...T) T { return values[g.IntN(len(values))] }

func (g generator) value(s *schema.Structural) any {
	switch {
	case g.one(40):
		return nil
	case g.one(60):
		return pick[any](g, "stray", int64(3), true, []any{"x"}, map[string]any{"x": "y"}, 1.5)
	case s.XIntOrString:
		return pick[any](g, int64(80), "80", int64(5))
	}
	switch s.Type {
	case "object":
		return g.object(s)
	case "array":
		return g.array(s)
	case "integer":
		return pick(g, int64(0), 1, 2, 3, 5, 6, 8, 9)
	case "number":
		return pick[any](g, int64(4), 1.5, 30.0)
	case "boolean":
		return g.one(2)
	}
	return g.text(s)
}

func (g generator) text(s *schema.Structural) string {
	format := ""
	if s.ValueValidation != nil {
		format = s.ValueValidation.Format
	}
	switch format {
	case "date-time":
		return pick(g, "2019-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "today")
	case "duration":
		return pick(g, "5m", "2h", "long")
	case "byte":
		return pick(g, "aGk=", "aGVsbG8=", "%")
	}
	return pick(g, "", "a", "b", "bad", "no", "x", "newline", "empty", "default", "Broken", "Unknown", "Secret", "kube-system", "forbidden")
}

func (g generator) object(s *schema.Structural) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if property := s.Properties[name]; !g.one(3) {
			out[name] = g.value(&property)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for range g.IntN(3) {
			out[pick(g, "a", "b", "bad", "a.b/c")] = g.value(s.AdditionalProperties.Structural)
		}
	}
	if s.XEmbeddedResource {
		out["kind"], out["apiVersion"] = pick(g, "Pod", "Secret"), "v1"
		out["metadata"] = map[string]any{"name": pick(g, "", "n")}
	}
	if g.one(20) {
		out["unknown"] = pick[any](g, "u", int64(1))
	}
	return out
}

func (g generator) array(s *schema.Structural) []any {
	out := []any{}
	for range g.IntN(4) {
		out = append(out, g.value(s.Items))
	}
	return out
}

// root is an object that the API server would at least decode.
func (g generator) root(s *schema.Structural) map[string]any {
	out := g.object(s)
	out["apiVersion"], out["kind"] = "example.com/v1", pick(g, "Widget", "Widget", "Odd")
	out["metadata"] = map[string]any{"name": pick(g, "w", "forbidden"), "labels": map[string]any{"l": pick(g, "1", "2")}}
	return out
}

// changed copies an object with some parts made anew or moved.
func (g generator) changed(s *schema.Structural, old map[string]any) map[string]any {
	fresh, out := g.root(s), runtime.DeepCopyJSON(old)
	for _, part := range []string{"spec", "status", "metadata", "kind"} {
		switch g.IntN(4) {
		case 0:
			out[part] = fresh[part]
		case 1:
			g.mix(out[part], fresh[part])
		}
	}
	return out
}

func (g generator) mix(into, from any) {
	old, ok := into.(map[string]any)
	fresh, _ := from.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		if g.one(4) {
			old[name] = fresh[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		switch list, isList := old[name].([]any); {
		case isList && g.one(3):
			g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case g.one(12):
			delete(old, name)
		}
	}
}
