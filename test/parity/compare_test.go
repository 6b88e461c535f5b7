package parity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
)

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
