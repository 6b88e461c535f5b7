package backup

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Metrics are the reconciler's. A nil one counts nothing.
type Metrics struct {
	snapshots *prometheus.GaugeVec
	newest    *prometheus.GaugeVec
	size      *prometheus.GaugeVec
	lasted    *prometheus.GaugeVec
	attempts  *prometheus.CounterVec
}

// NewMetrics registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	of := []string{"namespace", "talosetcdbackup"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_talosetcdbackup_" + name, Help: help}, of)
	}
	m := &Metrics{
		snapshots: gauge("snapshots", "Whole snapshots in the store."),
		newest:    gauge("newest_timestamp_seconds", "When the newest whole snapshot was taken, in Unix time; 0 if there is none."),
		size:      gauge("newest_bytes", "The size of the newest whole snapshot's object."),
		lasted:    gauge("last_duration_seconds", "How long the last attempt took, with reading back."),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_talosetcdbackup_attempts_total", Help: "Attempts to take a snapshot by result: proved, failed.",
		}, append(of[:2:2], "result")),
	}
	for _, collector := range []prometheus.Collector{m.snapshots, m.newest, m.size, m.lasted, m.attempts} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of TalosEtcdBackups: %w", err)
		}
	}
	return m, nil
}

// observe takes what the store has.
func (m *Metrics) observe(b *v1alpha1.TalosEtcdBackup, seen *Catalog, now time.Time) {
	if m == nil {
		return
	}
	var at, size float64
	if e := seen.newest(now); e != nil {
		at, size = float64(e.Time.Unix()), float64(e.Size)
	}
	m.snapshots.WithLabelValues(b.Namespace, b.Name).Set(float64(len(seen.Whole)))
	m.newest.WithLabelValues(b.Namespace, b.Name).Set(at)
	m.size.WithLabelValues(b.Namespace, b.Name).Set(size)
}

// took counts an attempt.
func (m *Metrics) took(b *v1alpha1.TalosEtcdBackup, d time.Duration, err error) {
	if m == nil {
		return
	}
	result := "proved"
	if err != nil {
		result = "failed"
	}
	m.lasted.WithLabelValues(b.Namespace, b.Name).Set(d.Seconds())
	m.attempts.WithLabelValues(b.Namespace, b.Name, result).Inc()
}

// forget drops the rows of a backup that is gone.
func (m *Metrics) forget(b types.NamespacedName) {
	if m == nil {
		return
	}
	of := prometheus.Labels{"namespace": b.Namespace, "talosetcdbackup": b.Name}
	for _, g := range []*prometheus.GaugeVec{m.snapshots, m.newest, m.size, m.lasted} {
		g.DeletePartialMatch(of)
	}
	m.attempts.DeletePartialMatch(of)
}
