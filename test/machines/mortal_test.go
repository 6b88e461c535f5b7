package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// moment is when a process dies, by one of its calls.
type moment string

const (
	before moment = "before"
	after  moment = "after"
	amid   moment = "in the middle of"
)

// point is a death: of whom, at which call of its kind, and when. The zero point is
// none.
type point struct {
	what   string
	nth    int
	when   moment
	middle *middle // of a death in the middle of its call
}

func (p point) String() string {
	if p.middle != nil {
		return fmt.Sprintf("killed in the middle of %q: %s", p.what, p.middle.name)
	}
	return fmt.Sprintf("killed %s call %d of %q", p.when, p.nth, p.what)
}

// errDead is what a dead process hears.
var errDead = errors.New("the process is dead")

// mortal is a process of the controllers as it meets the world: killed at a call, it is
// answered nothing any more, and its calls that are on their way break.
type mortal struct {
	life context.Context
	kill context.CancelFunc

	mu    sync.Mutex
	at    *point // nil until the removal begins: nothing is counted before
	calls []string
	met   bool // the call of the point has begun
	dead  bool
}

func newMortal() *mortal {
	m := &mortal{}
	m.life, m.kill = context.WithCancel(context.Background())
	return m
}

// doom begins to count calls, and lets the process die at the point.
func (m *mortal) doom(at point) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.calls, m.met = &at, nil, false
}

// call makes a call of the process, which is counted unless it has no name.
func (m *mortal) call(what string, do func() error) error {
	here, alive := m.begins(what)
	if !alive {
		return errDead
	}
	err := do()
	if here {
		m.answers()
	}
	if m.died() {
		return errDead
	}
	return err
}

func (m *mortal) begins(what string) (here, alive bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead || m.at == nil || what == "" {
		return false, !m.dead
	}
	m.calls = append(m.calls, what)
	here = what == m.at.what && !m.met && m.count(what) == m.at.nth
	m.met = m.met || here
	if here && m.at.when == before {
		m.dieLocked()
	}
	return here, !m.dead
}

// answers lets the process die after the call of its point, unless it was spared
// meanwhile.
func (m *mortal) answers() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at != nil && m.at.when == after {
		m.dieLocked()
	}
}

// spare lets a process live whose point was not reached.
func (m *mortal) spare() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = nil
}

func (m *mortal) count(what string) (n int) {
	for _, c := range m.calls {
		if c == what {
			n++
		}
	}
	return n
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dieLocked()
}

func (m *mortal) dieLocked() {
	m.dead = true
	m.kill()
}

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// reached tells whether the call of the point has begun.
func (m *mortal) reached() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.met
}

// called are the counted calls so far.
func (m *mortal) called() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// while answers a context that ends with the process too.
func (m *mortal) while(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(m.life, cancel)
	return ctx, func() { stop(); cancel() }
}
