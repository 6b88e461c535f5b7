package restore

import (
	"context"
	"testing"
	"testing/synctest"
)

// Where the machine API is reached and etcd's port is not, the target that has recovered is
// not wiped: a person is told, and it goes on once the port is open.
//
// covers: C-15, C-33
func TestPortThatIsShut(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) {
		for _, n := range w.nodes {
			n.shut = true
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		first, err := p.second("process-0", false).Run(context.Background())
		if err != nil || first.Outcome != Paused || p.w.wipes != 3 {
			t.Errorf("got %s, %v after %d wipes; want Paused after 3", first.Outcome, err, p.w.wipes)
		}
		says(t, "a shut port", first.Why, "The etcd on cp-a cannot be asked whether it is the recovered one: dial 192.0.2.1:2379: etcd cannot be reached: connection refused; "+
			"its machine API says that etcd is Running and healthy, with the members cp-a", "see that port 2379 of cp-a is reached", "quorate restore --recover-cluster")
		for _, n := range p.w.nodes {
			n.shut = false
		}
		if p.result, err = p.second("process-1", true).Run(context.Background()); err != nil {
			t.Error(err)
		}
		p.check(t)
		if p.w.wipes != 3 {
			t.Errorf("%d wipes, want no more than the first 3", p.w.wipes)
		}
	})
}
