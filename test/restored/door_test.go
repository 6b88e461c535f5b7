package restored

import (
	"context"
	"errors"
	"net/http"
	"path"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/test/s3"
	sim "github.com/quorate/quorate/test/talos"
)

// errCut is what a caller hears that is dead, or whose machine goes down.
var errCut = status.Error(codes.Unavailable, "the connection is cut")

// awayFor is how long the store is away: long against the pause between two looks (3 s).
const awayFor = 5 * time.Second

// door sees each call of a restore to the outside, and has something go wrong at one.
type door struct {
	t     *testing.T
	at    point
	wipes wipes
	// command is the way out that the manager had named when it was struck.
	command string

	mu    sync.Mutex
	count map[string]int
	met   bool
	due   string    // the call, with its place, that is to act yet
	away  time.Time // until when the store is

	lifts  []func()
	behind sync.WaitGroup
}

// open begins to count.
func open(t *testing.T, at point) *door {
	d := &door{t: t, at: at, count: map[string]int{}, wipes: wipes{t: t, of: map[string]map[string]bool{}}}
	for _, n := range shared.Talos.Nodes() {
		d.lifts = append(d.lifts, n.Fault(d.machine(n)))
	}
	objects.proxy.Set(d.request)
	return d
}

// close ends what went wrong, and waits until all is switched on again.
func (d *door) close() {
	for _, lift := range d.lifts {
		lift()
	}
	objects.proxy.Set(nil)
	d.behind.Wait()
}

// comes counts a call, and tells whether it is the one.
func (d *door) comes(call string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count[call]++
	here := !d.met && call == d.at.call && d.count[call] == d.at.nth
	d.met = d.met || here
	return here
}

func (d *door) reached() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.met
}

func (d *door) machine(n *sim.Node) sim.Fault {
	return sim.Meet("", func(_ context.Context, call string) error {
		d.wipes.comes(n, call)
		if !d.comes(call) {
			return nil
		}
		d.mu.Lock()
		d.due = call + " " + n.Name
		d.mu.Unlock()
		return d.before(n.Name)
	}, func(ctx context.Context, call string) error {
		d.wipes.acted(n, call)
		d.mu.Lock()
		here := d.due == call+" "+n.Name
		if here {
			d.due = ""
		}
		d.mu.Unlock()
		if !here {
			return nil
		}
		if d.at.kind == answerLost {
			<-ctx.Done()
			return errCut
		}
		return d.after(n.Name)
	})
}

// before is what goes wrong before a call acts; with an error it does not act.
func (d *door) before(machine string) error {
	if !d.strikes(machine, killedBefore, podLostBefore, nodeLostBefore, rebootBefore, storeAway) || d.at.kind == storeAway {
		return nil
	}
	return errCut
}

// after is what goes wrong after it.
func (d *door) after(machine string) error {
	if d.strikes(machine, killedAfter, podLostAfter, nodeLostAfter, rebootAfter) && d.at.kind != rebootAfter {
		return errCut
	}
	return nil
}

// request is for the store's proxy.
func (d *door) request(r *http.Request) s3.Fault {
	d.mu.Lock()
	away := time.Now().Before(d.away)
	d.mu.Unlock()
	if away {
		return s3.Fault{Away: true}
	}
	if !d.comes(storeCall(r)) {
		return s3.Fault{}
	}
	const machine = "cp-1" // where etcd is recovered
	switch d.at.kind {
	case answerLost:
		return s3.Fault{Lost: true}
	case killedAfter, podLostAfter, nodeLostAfter:
		return s3.Fault{Then: func() { _ = d.after(machine) }}
	case rebootAfter:
		_ = d.after(machine)
		return s3.Fault{}
	case rebootBefore:
		_ = d.before(machine)
		return s3.Fault{}
	}
	_ = d.before(machine)
	return s3.Fault{Away: true}
}

// storeCall names a request by what it is about.
func storeCall(r *http.Request) string {
	name, what := path.Base(r.URL.Path), "other"
	switch {
	case name == restore.MarkerName:
		what = "marker"
	case restore.IsPinned(name):
		what = "copy"
	}
	switch {
	case what == "other":
	case r.URL.Query().Has("uploadId"), r.URL.Query().Has("uploads"):
		what += "'s part"
	}
	return r.Method + " " + what
}

// step is for what is seen of the operation.
func (d *door) step(step string) {
	if d.comes(stepCall + step) {
		_ = d.before("cp-1")
		_ = d.after("cp-1")
	}
}

// strikes does what the point's kind says if that is one of these.
func (d *door) strikes(machine string, kinds ...kind) bool {
	for _, k := range kinds {
		if k == d.at.kind {
			d.command = commandIn(shared.ManagerLog())
			d.strike(machine)
			return true
		}
	}
	return false
}

func (d *door) strike(machine string) {
	_, host, _, err := shared.Manager()
	switch d.at.kind {
	case killedBefore, killedAfter:
		err = errors.Join(err, shared.KillContainer())
	case podLostBefore, podLostAfter:
		d.behind.Go(func() { d.losePod(host) })
	case nodeLostBefore, nodeLostAfter:
		d.behind.Go(func() { d.blink(host) })
	case rebootBefore:
		d.behind.Go(func() { d.blink(machine) })
	case rebootAfter:
		// It may go down already, by a wipe.
		d.behind.Go(func() { _ = shared.Talos.Node(machine).Reboot(within(d.t)) })
	case storeAway:
		d.mu.Lock()
		d.away = time.Now().Add(awayFor)
		d.mu.Unlock()
	}
	d.wrong(err)
}

// losePod deletes the pod, or lets its machine lose its power where no API server takes
// the order.
func (d *door) losePod(host string) {
	ctx, cancel := context.WithTimeout(d.t.Context(), dialTimeout)
	defer cancel()
	if shared.DeletePod(ctx) != nil {
		d.blink(host)
	}
}

func (d *door) blink(machine string) {
	n := shared.Talos.Node(machine)
	n.PowerOff()
	d.wrong(n.PowerOn())
}

func (d *door) wrong(err error) {
	if err != nil {
		d.t.Errorf("%s: %v", d.at, err)
	}
}
