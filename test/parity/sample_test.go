package parity

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/test/world"
)

const (
	seed = 20300109
	// enough is how many pairs each rule refuses alone, at least.
	enough = 2
	// searched is how many pairs are looked through for those, and available how
	// many there are in all.
	searched, available = 40_000, 40_000
)

// sample gives pairs as they come, but first those that rules need which seldom
// refuse anything. Generator and rules are the same every time, so the sample is.
func (p *product) sample(ctx context.Context) (iter.Seq[parity.Pair], error) {
	g, err := parity.NewGenerator(p.crds, world.ControllerUser, seed)
	if err != nil {
		return nil, err
	}
	first, err := p.refused(ctx, g)
	if err != nil {
		return nil, err
	}
	return func(yield func(parity.Pair) bool) {
		for _, pair := range first {
			if !yield(pair) {
				return
			}
		}
		known := func(pair parity.Pair) bool {
			return slices.ContainsFunc(first, func(f parity.Pair) bool { return f.Number == pair.Number })
		}
		for pair := range g.Pairs(available, func(pair parity.Pair) bool { return !known(pair) }) {
			if !yield(pair) {
				return
			}
		}
	}, nil
}

// refused finds enough pairs for each rule of several layers, which it alone
// refuses: a policy tells no second finding. None is about an object that is being
// deleted, which cannot always be had.
func (p *product) refused(ctx context.Context, g *parity.Generator) ([]parity.Pair, error) {
	missing := map[string]int{}
	for _, r := range p.rules.Rules {
		if len(r.Layers) > 1 {
			missing[r.ID] = enough
		}
	}
	var out []parity.Pair
	for pair := range g.Pairs(searched, stays) {
		id := onlyDenial(p.layers[cel.LayerWebhook].Judge(ctx, pair.Request))
		if missing[id] > 0 {
			out = append(out, pair)
			if missing[id]--; missing[id] == 0 {
				delete(missing, id)
			}
		}
		if len(missing) == 0 {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w in %d for rules %v", errTooFew, searched, missing)
}

// onlyDenial is the rule that denies, if it is one alone. Rules that look at other
// objects fail here, where there are none.
func onlyDenial(v cel.Verdict) (id string) {
	for _, f := range v.Findings {
		if f.Outcome == cel.Deny && id != "" {
			return ""
		}
		if f.Outcome == cel.Deny {
			id = f.Rule
		}
	}
	return id
}

func stays(p parity.Pair) bool {
	metadata, _ := p.Request.OldObject["metadata"].(map[string]any)
	return metadata["deletionTimestamp"] == nil
}
