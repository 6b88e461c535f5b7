package restore

import (
	"fmt"
	"testing"
	"time"
)

// orders are all orders of three.
var orders = [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// Nodes take between nothing and two minutes to wipe, and to reboot, in every order: a
// fast one comes back to the old etcd while a slow one still serves it. It converges,
// and the marker counts the wipes that it took beyond the first of each node.
//
// covers: C-13
func TestSkew(t *testing.T) {
	runs, extra, most := 0, 0, 0
	for _, own := range []string{"", "cp-a"} {
		for _, slow := range orders {
			for _, late := range orders {
				p := newPlay()
				p.own, p.limits.Poll = own, 3*time.Second
				p.fault.kind = fmt.Sprintf("skew %v %v", slow, late)
				p.prepare = func(w *world, _ *Marker) {
					for i := range 3 {
						w.nodes[i].resetAfter = []time.Duration{0, 50 * time.Second, 120 * time.Second}[slow[i]]
						w.nodes[i].rebootFor = []time.Duration{0, 25 * time.Second, 120 * time.Second}[late[i]]
					}
				}
				p.run(t)
				p.check(t)
				if got := p.result.Marker.ExtraWipes; got != p.w.wipes-p.planes {
					t.Errorf("%s: the marker says %d extra wipes, and there were %d wipes of %d nodes", p.named(), got, p.w.wipes, p.planes)
				}
				runs, extra, most = runs+1, extra+p.result.Marker.ExtraWipes, max(most, p.result.Marker.ExtraWipes)
			}
		}
	}
	if extra == 0 {
		t.Error("no node came back to the old etcd: the skew is none")
	}
	t.Logf("%d runs, %d extra wipes, at most %d in one", runs, extra, most)
}
