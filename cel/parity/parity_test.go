package parity

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/cel"
)

// pairCount is 200,000, unless PARITY_PAIRS asks for another number.
func pairCount(t testing.TB) int {
	t.Helper()
	text, ok := os.LookupEnv("PARITY_PAIRS")
	if !ok {
		return 200_000
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("PARITY_PAIRS is %q: want a number above 0", text)
	}
	return count
}

// untilDeadline ends before go test's own timeout would, so that the report says
// how far the run came.
func untilDeadline(t *testing.T) (context.Context, context.CancelFunc) {
	if deadline, ok := t.Deadline(); ok {
		return context.WithDeadline(t.Context(), deadline.Add(-15*time.Second))
	}
	return context.WithCancel(t.Context())
}

// TestLayersAgree holds the promise that the webhook says what the API server
// says, and a policy too. Rules in one layer alone are not compared.
func TestLayersAgree(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // the stock validator makes much garbage
	ctx, cancel := untilDeadline(t)
	defer cancel()
	c, _ := product(t)
	config := Config{Catalogue: c, Layers: layers(t, c, c, c), Workers: 2}
	report, err := Run(ctx, config, productGenerator(t).Pairs(pairCount(t), nil))
	if err != nil {
		t.Fatalf("%v\n%s", err, report)
	}
	t.Log(report)
	if report.Mismatched > 0 {
		t.Errorf("layers differ on %d of %d pairs", report.Mismatched, report.Pairs)
	}
	for _, r := range c.Rules {
		if len(r.Layers) < 2 {
			continue
		}
		if report.Denied[r.ID] == 0 {
			t.Errorf("rule %s never denied: the pairs say nothing about it", r.ID)
		}
		if report.Failed[r.ID] > 0 {
			t.Errorf("rule %s failed on %d pairs that the API server accepts", r.ID, report.Failed[r.ID])
		}
	}
	for _, d := range Differences {
		if report.Excused[d.Name] == 0 {
			t.Errorf("difference %s never occurred: it is not one", d.Name)
		}
	}
}

// TestPlantedDifferencesAreFound plants one mistake in one layer at a time.
func TestPlantedDifferencesAreFound(t *testing.T) {
	replaced := func(old, new string) func(*cel.Rule) {
		return func(r *cel.Rule) {
			if !strings.Contains(r.Expression, old) {
				t.Fatalf("%s is not in rule %s", old, r.ID)
			}
			r.Expression = strings.Replace(r.Expression, old, new, 1)
		}
	}
	for _, plant := range []struct {
		name, rule string
		layer      cel.Layer
		edit       func(*cel.Rule)
	}{
		{"a comparison", "scale-out-blocked", cel.LayerVAP, replaced("oldSelf.spec.replicas > 0", "oldSelf.spec.replicas > 1")},
		{"a forgotten status", "bootstrap-removal-blocked", cel.LayerWebhook, replaced("c.status == 'True' && ", "")},
		{"swapped sides", "scale-in-blocked", cel.LayerCRD, replaced("self.spec.replicas < oldSelf.spec.replicas", "oldSelf.spec.replicas < self.spec.replicas")},
		{"a forgotten has", "operation-payload-matches-kind", cel.LayerVAP, replaced("has(self.etcdRestore)", "(self.etcdRestore != null)")},
		{"a message", "count-one-step-down", cel.LayerCRD, func(r *cel.Rule) {
			r.Message, r.MessageExpression = "Refused. (count-one-step-down)", ""
		}},
		{"a field", "machine-role-immutable", cel.LayerWebhook, func(r *cel.Rule) { r.FieldPath = ".endpoint" }},
		{"a rule that is gone", "operation-finalizer-held", cel.LayerVAP, func(r *cel.Rule) { r.Expression = "true" }},
		{"an operation", "status-is-ours", cel.LayerVAP, func(r *cel.Rule) { r.Operations = []cel.Operation{cel.Create} }},
		{"an exemption", "status-is-ours", cel.LayerVAP, func(r *cel.Rule) { r.Binds = cel.BindsEveryone }},
	} {
		t.Run(plant.name, func(t *testing.T) {
			c, _ := product(t)
			of := map[cel.Layer]*cel.Catalogue{cel.LayerCRD: c, cel.LayerWebhook: c, cel.LayerVAP: c}
			of[plant.layer], _ = product(t) // loads anew each time
			planted, ok := of[plant.layer].Rule(plant.rule)
			if !ok {
				t.Fatalf("no rule %s", plant.rule)
			}
			plant.edit(planted)
			report := untilFound(t, layers(t, of[cel.LayerCRD], of[cel.LayerWebhook], of[cel.LayerVAP]), planted.Resource)
			if report.Mismatched == 0 {
				t.Fatalf("not found in %d pairs", report.Pairs)
			}
			for _, m := range report.Mismatches {
				if m.Layers[0] != plant.layer && m.Layers[1] != plant.layer || !strings.Contains(m.String(), plant.rule) {
					t.Errorf("found something else: %s", m)
				}
			}
		})
	}
}

// untilFound judges pairs of one resource, 5,000 at most, until three differ.
func untilFound(t testing.TB, l map[cel.Layer]cel.Layered, resource string) *Report {
	t.Helper()
	c, _ := product(t)
	rules := map[string]*cel.Rule{}
	for _, r := range c.Rules {
		rules[r.ID] = r
	}
	report := newReport()
	for p := range productGenerator(t).Pairs(5_000, func(p Pair) bool { return p.Request.Resource == resource }) {
		if report.judge(t.Context(), Config{Catalogue: c, Layers: l}, rules, p); report.Mismatched == 3 {
			break
		}
	}
	return report
}

// TestProductRulesCompileForEachMinor holds the product's rules and CRDs against
// every supported Kubernetes minor and its cost limits.
func TestProductRulesCompileForEachMinor(t *testing.T) {
	if err := cel.CheckMinors(product(t)); err != nil {
		t.Error(err)
	}
}
