package node

import (
	"context"
	"sync"
	"time"
)

// bell wakes all that wait for something to change. Whoever waits looks for itself
// what it was.
type bell struct {
	mu   sync.Mutex
	next chan struct{}
}

func newBell() *bell { return &bell{next: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}

func (b *bell) heard() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

// lookAgain is how often a waiter looks without a bell: what failed is tried again.
const lookAgain = time.Second

// until calls done after each bell until it answers true; false if the context ends.
func (b *bell) until(ctx context.Context, done func() bool) bool {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for ctx.Err() == nil {
		heard := b.heard()
		if done() {
			return true
		}
		select {
		case <-ctx.Done():
		case <-heard:
		case <-ticker.C:
		}
	}
	return false
}
