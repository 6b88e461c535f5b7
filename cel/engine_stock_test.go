package cel

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
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

//
func TestEngineSaysWhatTheAPIServerSays(t *testing.T) {
	crd := readCRD(t, "testdata/widgets.yaml")
	pairs := &pairs{t: t, stock: newStock(t, crd), engine: tellApart(newEngine(t, &Catalogue{Group: "example.com"}, crd)), seen: map[string]int{}}
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for range 1500 {
		old := g.root(pairs.stock.schema)
		self := g.changed(pairs.stock.schema, old)
		pairs.judge(self, nil)
		pairs.judge(self, old)
	}
	texts := strings.Join(slices.Sorted(maps.Keys(pairs.seen)), "\n")
	for _, rule := range allRules(pairs.engine) {
		if mark := refusalMark(rule); !strings.Contains(texts, mark) {
			t.Errorf("no pair was ever refused with %q", mark)
		}
	}
	if pairs.warned < 100 || pairs.allowed < 50 || pairs.failed < 100 {
		t.Errorf("one-sided pairs: %d ratcheted, %d allowed, %d rule errors", pairs.warned, pairs.allowed, pairs.failed)
	}
}

// pairs judges by both and counts what came of it.
type pairs struct {
	t                       *testing.T
	stock                   stock
	engine                  *Engine
	seen                    map[string]int
	warned, allowed, failed int
}

func (p *pairs) judge(self, old map[string]any) {
	p.t.Helper()
	r := &Request{Operation: Create, Resource: "widgets", Object: self, OldObject: old}
	if old != nil {
		r.Operation = Update
	}
	v, refusals, warnings, differs := p.both(r)
	for range 20 {
		if differs == "" {
			break
		}
		// Two maps with an invalid value are unequal or in error, as Go's map
		// order has it; both sides meet sooner or later.
		v, refusals, warnings, differs = p.both(r)
	}
	if differs != "" {
		p.t.Fatalf("%s\nold %v\nnew %v\n%s", r.Operation, old, self, differs)
	}
	p.warned += len(warnings)
	switch v.Outcome {
	case Allow:
		p.allowed++
	case RuleError:
		p.failed++
	}
	for _, text := range refusals {
		p.seen[text]++
	}
}

// both gives the engine's verdict in the API server's words, and how that differs.
func (p *pairs) both(r *Request) (v Verdict, refusals, warnings []string, differs string) {
	v = p.engine.Judge(context.Background(), r)
	refusals, warnings = asAPIServer(p.engine, "widgets", v)
	wantRefusals, wantWarnings := p.stock.said(context.Background(), r.Object, r.OldObject)
	if !slices.Equal(refusals, wantRefusals) || !slices.Equal(warnings, wantWarnings) {
		differs = fmt.Sprintf("refusals (- API server, + engine):\n%s\nwarnings:\n%s",
			diff.Diff(wantRefusals, refusals), diff.Diff(wantWarnings, warnings))
	}
	return v, refusals, warnings, differs
}

func allRules(e *Engine) []crdRule {
	var all []crdRule
	for _, rules := range e.resources {
		for _, tree := range rules.trees {
			all = append(all, slices.Concat(tree.rules...)...)
		}
	}
	return all
}

// refusalMark is what a refusal by the rule contains, whatever its message says.
func refusalMark(r crdRule) string {
	switch {
	case trailingID.MatchString(r.source.Message):
		return "(" + r.id + ")"
	case r.source.Reason != nil && *r.source.Reason == apiextensionsv1.FieldValueDuplicate:
		return "FieldValueDuplicate"
	}
	return r.said()
}
