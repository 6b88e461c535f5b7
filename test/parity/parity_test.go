package parity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/quorate/quorate/cel"
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
