package backup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Snapshots of a clock that was ahead stop neither the schedule nor the alert on the age
// of the newest, and take nobody's place.
func TestClockThatWasAhead(t *testing.T) {
	w := newWorld(t, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.Retention = 1 })
	metrics, err := NewMetrics(prometheus.NewPedanticRegistry())
	if err != nil {
		t.Fatal(err)
	}
	w.r.Metrics = metrics
	const ahead = "etcd-20310102T120000Z.snapshot.age"
	w.to(12, 0)
	w.clock.SetTime(w.clock.Now().AddDate(1, 0, 0))
	w.reconcile()
	w.lists(ahead)
	w.to(12, 0)
	w.reconcile()
	w.lists(ahead, noon)
	w.to(13, 0)
	w.reconcile()
	w.lists(ahead, one)
	if got, want := testutil.ToFloat64(metrics.newest), float64(w.clock.Now().Unix()); got != want {
		t.Errorf("the newest is of %v, want %v", got, want)
	}
	if got := w.backup().Status.Conditions[0].Message; !strings.Contains(got, fmt.Sprintf("The newest, %s,", one)) {
		t.Errorf("told is %q", got)
	}
	w.to(12, 55) // a little behind is none of that
	w.reconcile()
	w.lists(ahead, one)
}

// The next process does not take again what was taken for a request, if the last one
// died before it was through.
func TestTakenIsSaidToTheNextProcess(t *testing.T) {
	w := full(t)
	w.stored = func(name string) {
		if name == metaOf("etcd-20300102T140100Z.snapshot.age") {
			w.broken["list"] = errKilled
		}
	}
	_, _ = w.try()
	clear(w.broken)
	w.stored = nil
	w.restart()
	w.to(14, 2)
	w.reconcile()
	w.lists("etcd-20300102T140100Z.snapshot.age")
}
