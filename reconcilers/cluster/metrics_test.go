package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quorate/quorate/guard"
)

// figures are all of a registry, as "name{labels} value".
func figures(t *testing.T, r *prometheus.Registry) (out []string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out = append(out, fmt.Sprintf("%s{%s} %g", strings.TrimPrefix(f.GetName(), "quorate_taloscluster_"), strings.Join(labels, ","), m.GetGauge().GetValue()))
		}
	}
	return out
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(registry); err == nil || !strings.HasPrefix(err.Error(), "register the metrics of TalosClusters: ") {
		t.Errorf("registered twice: %v", err)
	}
	w := newWorld(t)
	w.r.Metrics = metrics
	w.members = []guard.Member{voter(1), voter(2), but(voter(3), unstarted), but(voter(4), learner)}
	w.reconcile()
	w.after(DefaultGrace)
	w.reconcile()
	want := []string{
		"members{default,learner,quay} 1", "members{default,unstarted,quay} 1", "members{default,voter,quay} 2",
		"quorum_margin{default,quay} 0", "unknown_members{default,quay} 1",
	}
	// Prometheus sorts labels by their names: namespace, role, taloscluster.
	if got := figures(t, registry); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	if got := figures(t, registry); len(got) != 0 {
		t.Errorf("of a cluster that is gone: %q", got)
	}
}
