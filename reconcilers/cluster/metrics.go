package cluster

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
)

// Metrics are the reconciler's. A nil one counts nothing.
type Metrics struct {
	members *prometheus.GaugeVec
	margin  *prometheus.GaugeVec
	unknown *prometheus.GaugeVec
}

// NewMetrics registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	of := []string{"namespace", "taloscluster"}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append(of[:2:2], labels...))
	}
	m := &Metrics{
		members: gauge("quorate_taloscluster_members", "Members of the live list by role: voter, learner, unstarted.", "role"),
		margin:  gauge("quorate_taloscluster_quorum_margin", "Healthy voters more than the quorum needs; below 0, how many are missing."),
		unknown: gauge("quorate_taloscluster_unknown_members", "Members that no approved TalosMachine explains, for longer than the grace."),
	}
	for _, collector := range []prometheus.Collector{m.members, m.margin, m.unknown} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of TalosClusters: %w", err)
		}
	}
	return m, nil
}

// observe takes what the live list says; without one, the last figures stay.
func (m *Metrics) observe(c *v1alpha1.TalosCluster, view *etcd.View, unknown int) {
	if m == nil || view == nil {
		return
	}
	roles := map[string]float64{"voter": 0, "learner": 0, "unstarted": 0}
	for _, member := range view.Members {
		roles[roleOf(member)]++
	}
	for role, n := range roles {
		m.members.WithLabelValues(c.Namespace, c.Name, role).Set(n)
	}
	m.margin.WithLabelValues(c.Namespace, c.Name).Set(float64(guard.CountOf(view.Members).Margin()))
	m.unknown.WithLabelValues(c.Namespace, c.Name).Set(float64(unknown))
}

func roleOf(m guard.Member) string {
	switch {
	case !m.Started:
		return "unstarted"
	case m.Learner:
		return "learner"
	}
	return "voter"
}

// forget drops the rows of a cluster that is gone.
func (m *Metrics) forget(cluster types.NamespacedName) {
	if m == nil {
		return
	}
	of := prometheus.Labels{"namespace": cluster.Namespace, "taloscluster": cluster.Name}
	m.members.DeletePartialMatch(of)
	m.margin.DeletePartialMatch(of)
	m.unknown.DeletePartialMatch(of)
}
