package talos

import (
	"fmt"
	"slices"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// events is what a boot tells its watchers. It lives in memory: a reboot ends the
// stream, and nobody hears the end of a sequence that ended in one.
type events struct {
	mu      sync.Mutex
	history []*machine.Event
	more    chan struct{} // closed at the next event
}

func newEvents() *events { return &events{more: make(chan struct{})} }

func (e *events) publish(actor string, payload proto.Message) error {
	value, err := proto.Marshal(payload)
	if err != nil {
		return fmt.Errorf("publish an event: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.history = append(e.history, &machine.Event{
		Data:    &anypb.Any{TypeUrl: "talos/runtime/" + string(payload.ProtoReflect().Descriptor().FullName()), Value: value},
		Id:      fmt.Sprintf("%020d", len(e.history)+1),
		ActorId: actor,
	})
	close(e.more)
	e.more = make(chan struct{})
	return nil
}

// sequence tells of a sequence's start, end or, with a text, failure.
func (e *events) sequence(actor string, s sequence, action machine.SequenceEvent_Action, code common.Code, text string) error {
	event := &machine.SequenceEvent{Sequence: string(s), Action: action}
	if text != "" {
		event.Error = &common.Error{Code: code, Message: text}
	}
	return e.publish(actor, event)
}

// since answers the events behind the first n, and what is closed when there are more.
func (e *events) since(n int) ([]*machine.Event, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.history[min(n, len(e.history)):]), e.more
}

// tail is where a watcher begins who wants that many past events; below zero are all.
func (e *events) tail(n int32) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n < 0 {
		return 0
	}
	return max(0, len(e.history)-int(n))
}

// Events streams an empty event first, then what happens. Past events by time or ID
// are not modelled.
func (a *api) Events(in *machine.EventsRequest, stream grpc.ServerStreamingServer[machine.Event]) error {
	seen := a.boot.events.tail(in.TailEvents)
	if err := stream.Send(&machine.Event{Data: &anypb.Any{}, Id: fmt.Sprintf("%020d", 0), ActorId: in.WithActorId}); err != nil {
		return err
	}
	for {
		fresh, more := a.boot.events.since(seen)
		seen += len(fresh)
		for _, event := range fresh {
			if in.WithActorId != "" && in.WithActorId != event.ActorId {
				continue
			}
			if err := stream.Send(event); err != nil {
				return err
			}
		}
		select {
		case <-more:
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-a.boot.ctx.Done():
			return nil
		}
	}
}
