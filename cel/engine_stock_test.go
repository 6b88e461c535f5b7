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
	"k8s.io/apimachinery/pkg/util/diff"
)

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
