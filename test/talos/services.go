package talos

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// The states of a service, in Talos's words.
const (
	stateWaiting   = "Waiting"
	statePreparing = "Preparing"
	stateRunning   = "Running"
	stateStopping  = "Stopping"
	stateFinished  = "Finished"
	stateFailed    = "Failed"
)

// runner is a service's work. It returns when ctx is done or when it has failed for
// good, and tells how it is on the way.
type runner func(ctx context.Context, s *service) error

// service is one named part of a boot that starts and stops.
type service struct {
	id  string
	run runner

	mu      sync.Mutex
	state   string
	events  []*machine.ServiceEvent
	healthy *bool // nil: nobody looks
	message string
	cancel  context.CancelFunc
	ended   chan struct{}
}

// maxEvents is how many events Talos keeps of a service.
const maxEvents = 64

func (s *service) set(state, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	s.events = append(s.events, &machine.ServiceEvent{Msg: message, State: state, Ts: timestamppb.Now()})
	s.events = s.events[max(0, len(s.events)-maxEvents):]
}

func (s *service) setHealth(healthy bool, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.healthy, s.message = &healthy, message
}

func (s *service) is() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// isHealthy is what the last look at it said; false if nobody has looked.
func (s *service) isHealthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.healthy != nil && *s.healthy
}

func (s *service) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		if err := s.run(ctx, s); err != nil && ctx.Err() == nil {
			s.set(stateFailed, err.Error())
			return
		}
		s.set(stateFinished, "Service finished successfully")
	}()
}

// stop waits for the end as long as ctx lets it; the service ends all the same.
func (s *service) stop(ctx context.Context) error {
	s.cancel()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the service %s: %w", s.id, context.Cause(ctx))
	}
}

func (s *service) info() *machine.ServiceInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	health := &machine.ServiceHealth{Unknown: s.healthy == nil, LastMessage: s.message, LastChange: timestamppb.Now()}
	if s.healthy != nil {
		health.Healthy = *s.healthy
	}
	return &machine.ServiceInfo{
		Id: s.id, State: s.state, Health: health, Events: &machine.ServiceEvents{Events: slices.Clone(s.events)},
	}
}

// services are a boot's, in the order of their start.
type services struct {
	again sync.Mutex // one restart at a time
	mu    sync.Mutex
	list  []*service
}

// start adds a service and lets it run. One of the same name has ended before.
func (s *services) start(ctx context.Context, id string, run runner) {
	fresh := &service{id: id, run: run, state: stateWaiting}
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh.start(ctx)
	if i := slices.IndexFunc(s.list, func(old *service) bool { return old.id == id }); i >= 0 {
		s.list[i] = fresh
		return
	}
	s.list = append(s.list, fresh)
}

// restart waits for the end of a service and starts it again.
func (s *services) restart(ctx, life context.Context, id string) error {
	s.again.Lock()
	defer s.again.Unlock()
	old := s.find(id)
	if err := old.stop(ctx); err != nil {
		return err
	}
	s.start(life, id, old.run)
	return nil
}

func (s *services) all() []*service {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// find answers nil for a service that this node does not have.
func (s *services) find(id string) *service {
	for _, one := range s.all() {
		if one.id == id {
			return one
		}
	}
	return nil
}

// stopTimeout bounds the end of one service at a shutdown.
const stopTimeout = time.Minute

// stop ends all services, the last that was started first.
func (s *services) stop(ctx context.Context) error {
	for _, one := range slices.Backward(s.all()) {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		err := one.stop(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// idle is a service of which a test sees no more than that it runs.
func idle(ctx context.Context, s *service) error {
	s.set(stateRunning, "Started task "+s.id)
	s.setHealth(true, "Health check successful")
	<-ctx.Done()
	s.set(stateStopping, "Sending SIGTERM to task "+s.id)
	return nil
}
