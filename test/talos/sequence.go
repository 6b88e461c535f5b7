package talos

import (
	"context"
	"errors"
	"sync"
)

// sequence is what a machine is about to do, by Talos's name.
type sequence string

const (
	sequenceReboot   sequence = "reboot"
	sequenceReset    sequence = "reset"
	sequenceShutdown sequence = "shutdown"
)

// errLocked is the error of a sequence that another one keeps from starting. Its
// caller was told OK: only an event says so.
var errLocked = errors.New("locked")

// takesOver decides whether one sequence ends another that runs: a shutdown ends
// anything, a reboot anything but a shutdown, a reset nothing (Talos:
// runtime/sequencer.go).
func takesOver(next, running sequence) bool {
	switch {
	case running == "" || next == sequenceShutdown:
		return true
	case next == sequenceReboot:
		return running != sequenceShutdown
	default:
		return false
	}
}

// sequences lets one sequence of a boot run at a time.
type sequences struct {
	mu      sync.Mutex
	running sequence
	cancel  context.CancelFunc
	ended   chan struct{}
}

// begin waits for the end of what it takes over, and answers a context for the
// sequence and what to call at its end.
func (s *sequences) begin(ctx context.Context, next sequence) (context.Context, func(), error) {
	s.mu.Lock()
	if !takesOver(next, s.running) {
		s.mu.Unlock()
		return nil, nil, errLocked
	}
	if s.cancel != nil {
		s.cancel()
	}
	before, ended := s.ended, make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	s.running, s.cancel, s.ended = next, cancel, ended
	s.mu.Unlock()
	if before != nil {
		<-before
	}
	return ctx, func() { s.finish(ended, cancel) }, nil
}

func (s *sequences) finish(ended chan struct{}, cancel context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel()
	close(ended)
	if s.ended == ended { // nobody has taken over
		s.running = ""
	}
}
