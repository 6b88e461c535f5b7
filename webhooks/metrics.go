package webhooks

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

// Label values for what is not one of ours, so that no sender can make series.
const (
	noRule = "none"
	other  = "other"
)

// evaluationBuckets reach from a verdict without a question to one that waited
// for an access review; in seconds.
var evaluationBuckets = []float64{10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3}

// Metrics are the gate's figures. It counts what it is asked: requests that a
// CRD rule has already refused never come here.
type Metrics struct {
	decisions  *prometheus.CounterVec
	evaluation prometheus.Histogram
	exemptions prometheus.Counter
	expiry     *prometheus.GaugeVec
	drift      *prometheus.GaugeVec
}

// NewMetrics registers the figures.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_admission_decisions_total",
			Help: "Admission decisions. A refused request counts once for each rule that refused it, an allowed one once with rule none.",
		}, []string{"rule", "verdict", "operation", "resource"}),
		evaluation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_admission_evaluation_seconds",
			Help:    "Time to evaluate the rules for one request, live reads not included.",
			Buckets: evaluationBuckets,
		}),
		exemptions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_admission_exemptions_total",
			Help: "Requests judged as the controller's own, without the rules that bind all but the controller. The match condition leaves the controller out before: above 0, that condition is gone from the webhook configuration.",
		}),
		expiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "quorate_certificate_expiry_timestamp_seconds",
			Help: "When a certificate that is in use expires, in seconds since 1970.",
		}, []string{"certificate"}),
		drift: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "quorate_rule_drift",
			Help: "1 where the rules of the installed CRD differ from those of this release, else 0.",
		}, []string{"crd"}),
	}
	for _, c := range []prometheus.Collector{m.decisions, m.evaluation, m.exemptions, m.expiry, m.drift} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// SetCertificateExpiry records when a certificate expires; certificate names
// its part, e.g. serving or ca.
func (m *Metrics) SetCertificateExpiry(certificate string, expires time.Time) {
	m.expiry.WithLabelValues(certificate).Set(float64(expires.Unix()))
}

// SetRuleDrift records whether an installed CRD has other rules than ours.
func (m *Metrics) SetRuleDrift(crd string, drifted bool) {
	value := 0.0
	if drifted {
		value = 1
	}
	m.drift.WithLabelValues(crd).Set(value)
}

func (m *Metrics) decided(rule string, outcome cel.Outcome, operation, resource string) {
	m.decisions.WithLabelValues(rule, string(outcome), operation, resource).Inc()
}

func (m *Metrics) evaluated(d time.Duration) { m.evaluation.Observe(d.Seconds()) }

func (m *Metrics) exempted() { m.exemptions.Inc() }

func operationLabel(operation string) string {
	switch cel.Operation(operation) {
	case cel.Create, cel.Update, cel.Delete:
		return operation
	}
	return other
}

// label is the resource's name, bounded to those that are known.
func (known Resources) label(r metav1.GroupVersionResource) string {
	if _, ok := known[schema.GroupResource{Group: r.Group, Resource: r.Resource}]; ok {
		return r.Resource
	}
	return other
}
