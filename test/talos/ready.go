package talos

import (
	"context"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// part is something that a boot has not from its first moment.
type part string

const (
	partVar  part = "/var"
	partCRI  part = "cri"
	partTime part = "time sync"
)

// parts are what a boot has got so far.
type parts struct {
	mu    sync.Mutex
	has   map[part]bool
	fresh chan struct{} // closed at the next change
}

func newParts() *parts { return &parts{has: map[part]bool{}, fresh: make(chan struct{})} }

func (r *parts) set(p part, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.has[p] == has {
		return
	}
	r.has[p] = has
	close(r.fresh)
	r.fresh = make(chan struct{})
}

// lacks is the first of these that is not there, and what is closed when that changes.
func (r *parts) lacks(parts ...part) (missing part, change <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range parts {
		if !r.has[p] {
			return p, r.fresh
		}
	}
	return "", r.fresh
}

// await waits until all of these are there.
func (r *parts) await(ctx context.Context, parts ...part) error {
	for {
		missing, change := r.lacks(parts...)
		if missing == "" {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// later are the partitions that a boot mounts when its API answers already: what is seen
// below /var.
func (d disk) later() []string {
	return append([]string{constants.EphemeralPartitionLabel}, d.dedicated...)
}

// progress is one look at what the boot may have by now. It mounts /var once.
func (b *boot) progress() error {
	up, timing := time.Since(b.began), b.timing
	held := b.node.faults.holds
	if missing, _ := b.ready.lacks(partVar); missing != "" && up >= timing.Mount && !held(partVar) {
		if err := b.node.disk.mount(b.node.disk.later()...); err != nil {
			return err
		}
		b.ready.set(partVar, true)
	}
	missing, _ := b.ready.lacks(partVar)
	b.ready.set(partCRI, missing == "" && up >= timing.Mount+timing.CRI && !held(partCRI))
	b.ready.set(partTime, !held(partTime))
	return nil
}

// machined is the service that mounts, and tells whether the clock is in sync.
func (b *boot) machined(ctx context.Context, s *service) error {
	s.set(stateRunning, "Started task machined")
	s.setHealth(true, "Health check successful")
	for {
		if err := b.progress(); err != nil {
			b.node.complain(err)
		}
		if err := b.tellTime(ctx); err != nil && ctx.Err() == nil {
			b.node.complain(err)
		}
		if pause(ctx, podsEvery) != nil {
			s.set(stateStopping, "Sending SIGTERM to task machined")
			return nil
		}
	}
}

// tellTime shows whether the clock is in sync.
func (b *boot) tellTime(ctx context.Context) error {
	missing, _ := b.ready.lacks(partTime)
	return safe.StateModify(ctx, b.resources, timeresource.NewStatus(), func(r *timeresource.Status) error {
		r.TypedSpec().Synced = missing == ""
		return nil
	})
}

// cri is the service: it waits for /var, and is down as long as a fault says so.
func (b *boot) cri(ctx context.Context, s *service) error {
	for ctx.Err() == nil {
		missing, change := b.ready.lacks(partCRI)
		if missing == "" {
			s.set(stateRunning, "Started task cri")
		} else {
			s.set(stateWaiting, "Waiting for volumes to be mounted")
		}
		s.setHealth(missing == "", "")
		select {
		case <-change:
		case <-ctx.Done():
		}
	}
	s.set(stateStopping, "Sending SIGTERM to task cri")
	return nil
}

// needs lets a service wait for parts of the boot before it begins.
func (b *boot) needs(run runner, parts ...part) runner {
	return func(ctx context.Context, s *service) error {
		if missing, _ := b.ready.lacks(parts...); missing != "" {
			s.set(stateWaiting, "Waiting for "+string(missing))
			if b.ready.await(ctx, parts...) != nil {
				return nil
			}
		}
		return run(ctx, s)
	}
}

// What a Bootstrap and an upload answer to one who comes too early (Talos 1.13.9,
// v1alpha1_server.go).
var (
	errNoCRI     = status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
	errNotSynced = status.Error(codes.FailedPrecondition, "time is not in sync yet")
	errNoVar     = status.Error(codes.FailedPrecondition, "etcd service is not ready for recovery yet")
)

// mayFound are a Bootstrap's preconditions: CRI at once, the clock after a while.
func (b *boot) mayFound(ctx context.Context) error {
	if missing, _ := b.ready.lacks(partCRI); missing != "" {
		return errNoCRI
	}
	ctx, cancel := context.WithTimeout(ctx, b.node.Timing().SyncWait)
	defer cancel()
	if b.ready.await(ctx, partTime) != nil {
		return errNotSynced
	}
	return nil
}
