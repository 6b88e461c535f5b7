package etcd

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// Metrics are the reconciler's. A nil one counts nothing.
type Metrics struct {
	members  *prometheus.GaugeVec
	margin   *prometheus.GaugeVec
	refusals *prometheus.CounterVec
	removals *prometheus.CounterVec
	waits    *prometheus.GaugeVec
	seconds  *prometheus.HistogramVec
}

// NewMetrics registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	of := []string{"namespace", "etcd"}
	m := &Metrics{
		members:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_etcd_members", Help: "Members of the live list by role: voter, learner, unstarted."}, append(of, "role")),
		margin:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_etcd_quorum_margin", Help: "Healthy voters more than the quorum needs; below 0, how many are missing."}, of),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "quorate_etcd_refusals_total", Help: "Cycles that withheld a membership change, by the code of lastErrors."}, append(of, "code")),
		removals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "quorate_etcd_removals_total", Help: "Members whose removal a member list has confirmed."}, of),
		waits:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_etcd_operation_waiting_seconds", Help: "How long the membership change on its way has made no progress; 0 for none."}, of),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "quorate_etcd_operation_seconds", Help: "How long membership changes took.", Buckets: prometheus.ExponentialBuckets(1, 2, 14)}, []string{"type"}),
	}
	for _, collector := range []prometheus.Collector{m.members, m.margin, m.refusals, m.removals, m.waits, m.seconds} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of Etcds: %w", err)
		}
	}
	return m, nil
}

func (m *Metrics) observe(o client.Object, view *etcdclient.View) {
	if m == nil || view == nil {
		return
	}
	roles := map[string]float64{"voter": 0, "learner": 0, "unstarted": 0}
	for _, member := range view.Members {
		switch {
		case !member.Started:
			roles["unstarted"]++
		case member.Learner:
			roles["learner"]++
		default:
			roles["voter"]++
		}
	}
	for role, n := range roles {
		m.members.WithLabelValues(o.GetNamespace(), o.GetName(), role).Set(n)
	}
	m.margin.WithLabelValues(o.GetNamespace(), o.GetName()).Set(float64(guard.CountOf(view.Members).Margin()))
}

func (m *Metrics) refused(o client.Object, code v1alpha1.ErrorCode) {
	if m != nil {
		m.refusals.WithLabelValues(o.GetNamespace(), o.GetName(), string(code)).Inc()
	}
}

func (m *Metrics) removed(o client.Object) {
	if m != nil {
		m.removals.WithLabelValues(o.GetNamespace(), o.GetName()).Inc()
	}
}

func (m *Metrics) waiting(o client.Object, d time.Duration) {
	if m != nil {
		m.waits.WithLabelValues(o.GetNamespace(), o.GetName()).Set(d.Seconds())
	}
}

func (m *Metrics) ended(e *v1alpha1.Etcd, d time.Duration) {
	if m != nil {
		m.waits.WithLabelValues(e.Namespace, e.Name).Set(0)
		m.seconds.WithLabelValues(string(e.Status.ScaleOperation.Type)).Observe(d.Seconds())
	}
}

// forget drops the rows of an Etcd that is gone.
func (m *Metrics) forget(owner types.NamespacedName) {
	if m == nil {
		return
	}
	of := prometheus.Labels{"namespace": owner.Namespace, "etcd": owner.Name}
	m.members.DeletePartialMatch(of)
	m.margin.DeletePartialMatch(of)
	m.refusals.DeletePartialMatch(of)
	m.removals.DeletePartialMatch(of)
	m.waits.DeletePartialMatch(of)
}
