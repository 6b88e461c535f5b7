package webhooks

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/quorate/quorate/cel"
)

func TestDecisionsAreCounted(t *testing.T) {
	f := newFixture(t)
	f.ask(t, reviewOf(nil))
	f.ask(t, reviewOf(fields{"operation": `"CREATE"`, "oldObject": "null"}))
	f.judge.verdict = denying(blocked, cel.Finding{Rule: "b", Outcome: cel.RuleError})
	f.ask(t, reviewOf(nil))
	f.ask(t, reviewOf(fields{"resource": `{"group":"g-17","version":"v1","resource":"things-17"}`, "operation": `"OP-17"`}))
	f.ask(t, reviewOf(fields{"operation": `"OP-17"`}))
	f.post(t, "no JSON")
	want := `
# HELP quorate_admission_decisions_total Admission decisions. A refused request counts once for each rule that refused it, an allowed one once with rule none.
# TYPE quorate_admission_decisions_total counter
quorate_admission_decisions_total{operation="CREATE",resource="etcds",rule="none",verdict="allow"} 1
quorate_admission_decisions_total{operation="UPDATE",resource="etcds",rule="b",verdict="error"} 1
quorate_admission_decisions_total{operation="UPDATE",resource="etcds",rule="none",verdict="allow"} 1
quorate_admission_decisions_total{operation="UPDATE",resource="etcds",rule="scale-out-blocked",verdict="deny"} 1
quorate_admission_decisions_total{operation="other",resource="etcds",rule="unknown-operation",verdict="deny"} 1
quorate_admission_decisions_total{operation="other",resource="other",rule="bad-review",verdict="error"} 1
quorate_admission_decisions_total{operation="other",resource="other",rule="unknown-resource",verdict="deny"} 1
`
	if err := testutil.GatherAndCompare(f.registry, strings.NewReader(want), "quorate_admission_decisions_total"); err != nil {
		t.Error(err)
	}
}

// The help says what a value above zero means: it is no figure of normal work.
func TestExemptionsAreCounted(t *testing.T) {
	f := newFixture(t)
	f.ask(t, reviewOf(nil))
	f.ask(t, reviewOf(fields{"userInfo": `{"username":"` + controller + `"}`}))
	want := `
# HELP quorate_admission_exemptions_total Requests judged as the controller's own, without the rules that bind all but the controller. The match condition leaves the controller out before: above 0, that condition is gone from the webhook configuration.
# TYPE quorate_admission_exemptions_total counter
quorate_admission_exemptions_total 1
`
	if err := testutil.GatherAndCompare(f.registry, strings.NewReader(want), "quorate_admission_exemptions_total"); err != nil {
		t.Error(err)
	}
}

// Every request that the rules judged is timed, in buckets of microseconds.
func TestEvaluationIsTimed(t *testing.T) {
	f := newFixture(t)
	f.ask(t, reviewOf(nil))
	f.ask(t, reviewOf(fields{"subResource": `"x"`}))
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "quorate_admission_evaluation_seconds" {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != 1 || h.GetBucket()[0].GetUpperBound() != 10e-6 || h.GetBucket()[len(h.GetBucket())-1].GetUpperBound() != 50e-3 {
			t.Errorf("got %s", h)
		}
		return
	}
	t.Error("no histogram")
}

func TestCertificatesAndDrift(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	m.SetCertificateExpiry("serving", time.Unix(1_800_000_000, 0))
	m.SetRuleDrift("etcds.quorate.dev", true)
	m.SetRuleDrift("talosclusters.quorate.dev", true)
	m.SetRuleDrift("talosclusters.quorate.dev", false)
	want := `
# HELP quorate_certificate_expiry_timestamp_seconds When a certificate that is in use expires, in seconds since 1970.
# TYPE quorate_certificate_expiry_timestamp_seconds gauge
quorate_certificate_expiry_timestamp_seconds{certificate="serving"} 1.8e+09
# HELP quorate_rule_drift 1 where the rules of the installed CRD differ from those of this release, else 0.
# TYPE quorate_rule_drift gauge
quorate_rule_drift{crd="etcds.quorate.dev"} 1
quorate_rule_drift{crd="talosclusters.quorate.dev"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "quorate_certificate_expiry_timestamp_seconds", "quorate_rule_drift"); err != nil {
		t.Error(err)
	}
}

func TestMetricsAreRegisteredOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := NewMetrics(registry); err != nil {
		t.Fatal(err)
	}
	_, err := NewMetrics(registry)
	if already := (prometheus.AlreadyRegisteredError{}); !errors.As(err, &already) {
		t.Errorf("got %v", err)
	}
}
