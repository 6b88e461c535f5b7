package machines

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/test/talos"
)

// goes is the machine that is removed again and again, and stay are the others.
const goes = "cp-4"

var stay = []string{"cp-1", "cp-2", "cp-3"}

// lane is a fleet whose cp-4 is removed by processes that die: after each removal it is
// installed anew, and joins.
type lane struct {
	*fleet
	way    *way
	life   *life
	voters map[string]uint64 // those that stay
	round  int
}

// newLane makes one. No other controllers may be at work.
func newLane(t *testing.T, w *way) *lane {
	t.Helper()
	l := &lane{way: w}
	t.Cleanup(func() {
		if l.life != nil {
			must(t, l.life.end())
		}
	})
	l.fleet = newFleetUnready(t, plan{controlPlanes: len(stay) + 1, count: 1, timing: unhurried})
	t.Cleanup(l.revive) // before the machines are let go
	l.revive()
	l.allowed()
	l.ready()
	l.settle()
	l.voters = map[string]uint64{}
	for _, name := range stay {
		l.voters[name] = l.member(name)
	}
	return l
}

// revive starts a process unless one lives.
func (l *lane) revive() {
	l.t.Helper()
	if l.life != nil && !l.life.died() {
		return
	}
	if l.life != nil {
		if l.t.Failed() {
			l.t.Logf("--- the process that died\n%s", l.life.tail())
		}
		must(l.t, l.life.end())
	}
	next, err := live(l.ns, goes)
	must(l.t, err)
	l.life = next
}

// unhurried is for nodes that run for a long time beside many others.
var unhurried = talos.Timing{HealthEvery: time.Second, HealthTimeout: 15 * time.Second}

// member is the member ID of a machine whose etcd is well, which it may be seen to be a
// moment later.
func (l *lane) member(name string) (id uint64) {
	l.t.Helper()
	l.until(name+" to say its member ID", func(ctx context.Context) (err error) {
		id, err = l.talos.Node(name).MemberID(ctx)
		return err
	})
	return id
}

// allowed says beforehand that a deletion is meant: a controller that sees it looks at
// the machine, and that is no part of its removal.
func (l *lane) allowed() {
	l.t.Helper()
	must(l.t, admin.Patch(l.t.Context(), l.machine(goes), allowDelete))
}

// settle waits until etcd takes a removal.
func (l *lane) settle() {
	l.t.Helper()
	l.stays("all to be well", connected-time.Since(l.formed), func(context.Context) error { return nil })
}

// again installs the machine anew and lets it join.
func (l *lane) again() {
	l.t.Helper()
	n := l.talos.Node(goes)
	n.PowerOff()
	must(l.t, n.Reinstall())
	must(l.t, l.kubelets.Uncordon(l.t.Context(), n.NodeName()))
	lock := &coordinationv1.Lease{ObjectMeta: l.meta(lease.Name(l.name))} // so that each removal makes it
	must(l.t, client.IgnoreNotFound(admin.Delete(l.t.Context(), lock)))
	l.approve(n)
	l.allowed()
	must(l.t, n.PowerOn())
	ctx, cancel := context.WithTimeout(l.t.Context(), limit)
	defer cancel()
	must(l.t, n.Voting(ctx))
	l.formed = time.Now()
	l.look(goes)
	l.ready()
	l.settle()
}

// dies removes the machine by a process that dies at the point, and lets another one
// end what that has begun. It answers the calls that were counted, and whether the point
// was reached.
func (l *lane) dies(t *testing.T, p point) (calls []string, reached bool) {
	outer := l.t
	l.t = t
	defer func() { l.t = outer }()
	l.round++
	r := &removal{lane: l, point: p, id: l.member(goes), uid: l.machine(goes).UID, began: time.Now(), pod: fmt.Sprintf("web-%d", l.round)}
	undo := l.way.prepare(r)
	lift := r.hinder()
	l.life.doom(p)
	r.begins()
	reached = r.diesOrGoes()
	calls = l.life.called()
	l.life.spare() // who dies later leaves nobody for the next removal
	lift()
	l.revive()
	l.gone(goes)
	undo()
	r.ended()
	return calls, reached
}
