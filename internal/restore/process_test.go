package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// fault is what goes wrong at one point: the nth call of a name.
type fault struct {
	point string
	kind  string // before, after, lost, away, taken, boot:NODE or reboot:NODE
}

// process is one process of the job: all that it asks of the outside goes through it.
type process struct {
	w      *world
	calls  *calls
	id     string
	dead   bool
	cancel context.CancelFunc
}

// calls are counted over all processes of a run.
type calls struct {
	count  map[string]int
	points []string
	fault  fault
	fired  bool
	lost   error // what a lost answer looks like
}

var errDead = errors.New("this process is dead")

// do makes one call, and the fault of its point.
func (p *process) do(name string, gone error, act func() error) error {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return errDead
	}
	w.advance()
	if p.dead { // its node went down
		return errDead
	}
	p.calls.count[name]++
	point := fmt.Sprintf("%s#%d", name, p.calls.count[name])
	p.calls.points = append(p.calls.points, point)
	if point != p.calls.fault.point || p.calls.fired {
		return act()
	}
	p.calls.fired = true
	switch p.calls.fault.kind {
	case "before":
		p.die()
		return errDead
	case "after":
		_ = act()
		p.die()
		return errDead
	case "lost":
		if err := act(); err != nil {
			return err
		}
		return gone
	case "away":
		w.store.awayUntil = time.Now().Add(time.Minute)
		return act()
	}
	if p.calls.fault.kind == "taken" { // by a person's command, at this very moment
		m, _ := Decode(w.store.objects[MarkerName].data)
		m.Fence, m.Owner.Identity = m.Fence+1, "a person"
		data, _ := m.Encode()
		w.store.put(MarkerName, data)
		return act()
	}
	if name, ok := strings.CutPrefix(p.calls.fault.kind, "boot:"); ok { // so fast that nobody saw it
		w.node(name).boot++
		return act()
	}
	n := w.node(p.calls.fault.kind[len("reboot:"):])

	w.reboots(n, 20*time.Second)
	w.judge()
	if p.dead {
		return errDead
	}
	return act()
}

func (p *process) die() {
	p.dead = true
	p.cancel()
}
