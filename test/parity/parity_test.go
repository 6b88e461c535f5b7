package parity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/test/world"
)

// pairs is how many each layer judges.
const pairs = 2_000

// hearing is the trials with the verdicts of the API server.
type hearing struct {
	*setup
	*product
	stock    *stock
	verdicts map[cel.Layer]recorded
}

// recorded is a layer whose verdicts are known already.
type recorded map[*cel.Request]cel.Verdict

func (r recorded) Judge(_ context.Context, request *cel.Request) cel.Verdict {
	if verdict, ok := r[request]; ok {
		return verdict
	}
	return cel.VerdictOf([]cel.Finding{{Rule: cel.EngineRule, Outcome: cel.RuleError, Message: "the API server was not asked"}})
}

// TestLayersAgree: one API server, its layers on in turn.
func TestLayersAgree(t *testing.T) {
	h := newHearing(t)
	for _, layer := range world.AllLayers {
		must(t, shared.Enforce(t.Context(), layer))
		h.judge(t, layer)
	}
	t.Run("with each other", h.agreeWithEachOther)
	for _, layer := range world.AllLayers {
		t.Run(string(layer)+" with itself in process", func(t *testing.T) { h.agreesWithProcess(t, layer) })
	}
	t.Run("each rule refused", h.eachRuleRefused)
	t.Run("nothing was changed", h.nothingChanged)
	for _, p := range plants {
		t.Run("planted in "+string(p.layer), func(t *testing.T) { h.finds(t, p) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newHearing stores the pairs' objects.
func newHearing(t *testing.T) *hearing {
	t.Helper()
	began := time.Now()
	p, err := newProduct()
	must(t, err)
	sample, err := p.sample(t.Context())
	must(t, err)
	s, err := newSetup(t.Context(), shared)
	must(t, err)
	must(t, s.fill(t.Context(), pairs, sample))
	stock, err := readStock(t.Context(), s.admin, p.rules)
	must(t, err)
	for _, one := range s.trials {
		must(t, stock.read(p.engine, one.Request))
	}
	t.Logf("%d pairs stored and accepted while no layer is on, in %s", len(s.trials), time.Since(began).Round(time.Second))
	left := 0
	for _, reason := range slices.Sorted(maps.Keys(s.leftOut)) {
		left += s.leftOut[reason]
		t.Logf("%d left out and replaced: %s", s.leftOut[reason], reason)
	}
	if len(s.trials) != pairs || left > pairs/5 {
		t.Errorf("%d pairs taken and %d left out, want %d and few", len(s.trials), left, pairs)
	}
	return &hearing{setup: s, product: p, stock: stock, verdicts: map[cel.Layer]recorded{}}
}

// judge has the API server judge all trials by the layer that is on.
func (h *hearing) judge(t *testing.T, layer cel.Layer) {
	t.Helper()
	began := time.Now()
	verdicts, err := h.ask(t.Context(), layer, h.trials)
	must(t, err)
	h.verdicts[layer] = verdicts
	outcomes := map[cel.Outcome]int{}
	for _, v := range verdicts {
		outcomes[v.Outcome]++
	}
	t.Logf("%s: %d pairs in %s: %v", layer, len(verdicts), time.Since(began).Round(time.Second), outcomes)
	if len(verdicts) != pairs || outcomes[cel.Allow] == 0 || outcomes[cel.Deny] == 0 || outcomes[cel.RuleError] > 0 {
		t.Errorf("%s judged %d pairs: %v; want %d, some allowed, some denied, no other", layer, len(verdicts), outcomes, pairs)
	}
}

func (h *hearing) ask(ctx context.Context, layer cel.Layer, trials []*trial) (recorded, error) {
	answers := make([]cel.Verdict, len(trials))
	err := inParallel(ctx, len(trials), func(ctx context.Context, i int) error {
		_, err := h.people.ask(ctx, trials[i])
		if answers[i], err = verdictIn(h.rules, layer, err); err != nil {
			return fmt.Errorf("ask for pair %d: %w", trials[i].Number, err)
		}
		return nil
	})
	out := recorded{}
	for i, one := range trials {
		out[one.Request] = answers[i]
	}
	return out, err
}

// compare has the comparison of the runs in process judge by what was recorded.
func (h *hearing) compare(ctx context.Context, verdicts map[cel.Layer]recorded, trials []*trial) (*parity.Report, error) {
	config := parity.Config{Catalogue: h.rules, Layers: map[cel.Layer]cel.Layered{}, First: []cel.Layer{cel.LayerVAP}, Workers: 1}
	for layer, known := range verdicts {
		config.Layers[layer] = known
	}
	return parity.Run(ctx, config, func(yield func(parity.Pair) bool) {
		for _, one := range trials {
			if !yield(one.Pair) {
				return
			}
		}
	})
}

func (h *hearing) agreeWithEachOther(t *testing.T) {
	report, err := h.compare(t.Context(), h.verdicts, h.trials)
	must(t, err)
	t.Log(report)
	if report.Mismatched > 0 || report.Pairs != pairs {
		t.Errorf("layers differ on %d of %d pairs", report.Mismatched, report.Pairs)
	}
	for _, d := range parity.Differences {
		if report.Excused[d.Name] == 0 {
			t.Errorf("difference %s never occurred: it is not one", d.Name)
		}
	}
}

func (h *hearing) agreesWithProcess(t *testing.T, layer cel.Layer) {
	differ := 0
	for _, one := range h.trials {
		real, own := h.verdicts[layer][one.Request], h.layers[layer].Judge(t.Context(), one.Request)
		if same(layer, real.Findings, own.Findings) {
			continue
		}
		if differ++; differ <= 10 {
			t.Errorf("pair %d: the API server says %v, in process it is %v", one.Number, real.Findings, own.Findings)
		}
	}
	t.Logf("%d of %d pairs differ", differ, len(h.trials))
}

// same: of policies the API server tells the first finding alone.
func same(layer cel.Layer, real, own []cel.Finding) bool {
	if layer == cel.LayerVAP && len(real) == 1 {
		return slices.Contains(own, real[0])
	}
	return slices.Equal(real, own)
}

// eachRuleRefused counts by rule and layer.
func (h *hearing) eachRuleRefused(t *testing.T) {
	for _, rule := range h.rules.Rules {
		var said []string
		for _, layer := range rule.Layers {
			count := 0
			for _, verdict := range h.verdicts[layer] {
				if slices.ContainsFunc(verdict.Findings, func(f cel.Finding) bool { return f.Rule == rule.ID }) {
					count++
				}
			}
			said = append(said, fmt.Sprintf("%s %d", layer, count))
			if count == 0 && len(rule.Layers) > 1 {
				t.Errorf("%s refused nothing in layer %s", rule.ID, layer)
			}
		}
		t.Logf("%s: %s", rule.ID, strings.Join(said, ", "))
	}
}

// nothingChanged: every request was a dry run.
func (h *hearing) nothingChanged(t *testing.T) {
	now, err := readStock(t.Context(), h.admin, h.rules)
	must(t, err)
	if !maps.Equal(now.versions, h.stock.versions) {
		t.Errorf("%d objects are stored in other versions than before, or in other numbers: %d, before %d", countChanged(now, h.stock), len(now.versions), len(h.stock.versions))
	}
}

func countChanged(now, before *stock) (changed int) {
	for at, version := range now.versions {
		if before.versions[at] != version {
			changed++
		}
	}
	return changed
}
