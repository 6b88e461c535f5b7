package snapshot

import (
	"io"
	"sync"
)

const (
	blockSize   = 64 << 10
	asideBlocks = 8
)

// aside writes copies to a sink that never fails in a goroutine of its own, so that sums
// and encryption have a core each. It holds at most asideBlocks blocks.
type aside struct {
	free, full chan []byte
	done       chan struct{}
	close      sync.Once
}

// newAside starts it; Close ends it.
func newAside(sink io.Writer) *aside {
	a := &aside{free: make(chan []byte, asideBlocks), full: make(chan []byte, asideBlocks), done: make(chan struct{})}
	for range asideBlocks {
		a.free <- make([]byte, 0, blockSize)
	}
	go func() {
		defer close(a.done)
		for block := range a.full {
			_, _ = sink.Write(block) // sums do not fail
			a.free <- block[:0]
		}
	}()
	return a
}

// Write hands a copy over, and waits while the sink is behind.
func (a *aside) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		block := <-a.free
		n := copy(block[:blockSize], rest)
		a.full <- block[:n]
		rest = rest[n:]
	}
	return len(p), nil
}

// Close waits until all is written. It may be called again.
func (a *aside) Close() {
	a.close.Do(func() { close(a.full) })
	<-a.done
}
