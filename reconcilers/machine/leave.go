package machine

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// silence is how long a machine that is leaving may not answer before one that
	// stays does it. It is told by another call: leaving itself may take 8 minutes.
	silence = 15 * time.Second
	// signOfLife bounds that call.
	signOfLife = 3 * time.Second
	// leaveAgain is when a machine that failed to leave is asked once more.
	leaveAgain = time.Minute
	// lateView is how long a list may still have a member that says it has left.
	lateView = 5 * time.Second
)

// leave is a machine's own leaving, which goes on between cycles: the server may take
// minutes, and no worker waits for it.
type leave struct {
	cancel context.CancelFunc
	clock  clock.PassiveClock

	mu    sync.Mutex
	ended bool
	err   error
	at    time.Time // it ended
	seen  time.Time // it answered last
}

// begin has the node leave. The node's client is closed at its end.
func begin(node Node, c clock.PassiveClock) *leave {
	ctx, cancel := context.WithCancel(context.Background())
	l := &leave{cancel: cancel, clock: c, seen: c.Now()}
	go func() {
		err := node.Leave(ctx)
		l.end(err)
		_ = node.Close() // all was said
		cancel()
	}()
	return l
}

func (l *leave) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended, l.err, l.at = true, err, l.clock.Now()
	}
}

// errSilent ends the leaving of a machine that does not answer any more.
var errSilent = errors.New("it stopped answering while it was leaving")

// answered notes a sign of life, or its absence. It ends the leaving after too long.
func (l *leave) answered(alive bool) {
	now := l.clock.Now()
	l.mu.Lock()
	if alive {
		l.seen = now
	}
	lost := now.Sub(l.seen) >= silence
	l.mu.Unlock()
	if lost {
		l.end(errSilent)
		l.cancel()
	}
}

// state is how the leaving stands.
func (l *leave) state() (ended bool, err error, since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		return false, nil, 0
	}
	return true, l.err, l.clock.Since(l.at)
}
