package machine

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// works are what a removal keeps between two cycles. A new process begins without
// them, and finds out from the live world.
type works struct {
	mu sync.Mutex
	of map[types.UID]*work
}

// work is one machine's. It is used by one cycle at a time.
type work struct {
	hold  Hold
	leave *leave
	// approved is set once this process has told that every check has passed.
	approved bool
	// drained is set once the node was seen to be.
	drained bool
	// refused counts removals in a row that a survivor answered with an error.
	refused int
}

func (w *works) get(id types.UID) *work {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[types.UID]*work{}
	}
	if w.of[id] == nil {
		w.of[id] = &work{}
	}
	return w.of[id]
}

func (w *works) forget(id types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of, id)
}

func (c *cycle) mine() *work { return c.work.get(c.machine.UID) }

// releaseTimeout bounds giving the lock back: it runs out by itself too.
const releaseTimeout = 5 * time.Second

// letGo gives the cluster's lock back, if it is held.
func (c *cycle) letGo(ctx context.Context) {
	w := c.mine()
	if w.hold == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	if err := w.hold.Release(ctx); err != nil {
		c.log.Info("the cluster's lock runs out by itself", "why", err.Error())
	}
	w.hold = nil
}
