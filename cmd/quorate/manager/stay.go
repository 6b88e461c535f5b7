package manager

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// stayLimit is how long a process stays for a restore at most once it has lost the
	// lease: ten minutes more than etcd may take to recover, within which the API server
	// is away and a process that begins could not take the lease.
	stayLimit = 70 * time.Minute
	// stayPoll is how often it is looked whether the restore is over.
	stayPoll = time.Second
)

// stay is for a process that loses the lease of the controllers while it restores a
// cluster, as the API server goes away for that. It serves webhook and probes on, and ends
// once the restore is over, or after stayLimit: what comes next begins with nothing in its
// memory, and goes on from the folder. A process that takes the lease again stays.
type stay struct {
	// busy tells whether a restore is on its way here; leave orders the process to end.
	busy  func() bool
	leave func()
	log   logr.Logger

	mu sync.Mutex
	// end stops the waiting; nil unless it waits.
	end context.CancelFunc
}

func newStay(o Options, r *restores) *stay {
	return &stay{busy: r.jobs.Running, leave: func() {}, log: o.Log.WithName("controllers")}
}

// term is run while this process holds the lease; process ends with the process.
func (s *stay) term(process context.Context) manager.RunnableFunc {
	return func(ctx context.Context) error {
		s.won()
		<-ctx.Done()
		s.lost(process)
		return nil
	}
}

func (s *stay) won() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.log.Info("the lease of the controllers is taken again, and the process stays")
		s.end()
		s.end = nil
	}
}

func (s *stay) lost(process context.Context) {
	if process.Err() != nil || !s.busy() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return
	}
	s.log.Info("the lease of the controllers is lost while this process restores a cluster: it stays for the restore, serves webhook and probes, and ends after that", "limit", stayLimit.String())
	var ctx context.Context
	ctx, s.end = context.WithTimeout(process, stayLimit)
	go s.wait(ctx)
}

func (s *stay) wait(ctx context.Context) {
	tick := time.NewTicker(stayPoll)
	defer tick.Stop()
	for s.busy() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				s.log.Info("this process ends: it has lost the lease, and the restore is not over within its limit; the next process goes on with it from the folder", "limit", stayLimit.String())
				s.leave()
			}
			return
		}
	}
	if ctx.Err() == nil {
		s.log.Info("this process ends: it has lost the lease, and its restore is over; the next process competes for the lease")
		s.leave()
	}
}
