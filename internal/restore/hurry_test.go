package restore

import (
	"testing"
	"time"
)

// While no API answers, what the nodes have come to is seen within a second, and nothing
// is waited for between two acts.
func TestHurry(t *testing.T) {
	p := newPlay()
	p.limits.Poll = 0
	p.prepare = func(w *world, _ *Marker) { // out of step with looks each three seconds
		for _, n := range w.nodes {
			n.resetAfter = 9 * time.Second
		}
	}
	p.run(t)
	p.check(t)
	ready := p.w.node("cp-a").resetAfter + p.w.node("cp-a").rebootFor + stepReady
	for _, e := range p.desk.journal {
		if took := e.At.Sub(p.began); e.Act == "bootstrap" && e.State == Answered && took > ready+time.Second {
			t.Errorf("etcd was recovered %s after the wipe began; %s is ready after %s", took, e.Node, ready)
		}
	}
}
