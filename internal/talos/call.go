package talos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// call is one call that is under way, with its limit and what was seen of it.
type call struct {
	client *client
	doing  string
	caller context.Context
	// ctx ends by the limit at the latest, and by end.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	limit    time.Duration
	start    time.Time
	answered atomic.Bool
}

// begin starts the time of a call. Whoever begins one ends it.
func (c *client) begin(ctx context.Context, limit time.Duration, doing string) *call {
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end).Round(time.Millisecond))
	}
	one := &call{client: c, doing: doing, caller: ctx, limit: limit, start: time.Now()}
	bounded, cancel := context.WithTimeout(ctx, limit)
	inner, stop := context.WithCancelCause(withAnswer(bounded, &one.answered))
	one.ctx, one.cancel = inner, func(cause error) { stop(cause); cancel() }
	return one
}

// errOver is the cause of a call that its own maker ended.
var errOver = errors.New("the call is over")

// end lets go of all that the call holds here and at the node.
func (c *call) end() { c.cancel(errOver) }

// errStalled is the cause of a stream whose next step took too long.
var errStalled = errors.New("the stream stalls")

// step bounds one step of a stream: a machine that lost its power is silent, and the
// kernel repeats what it has sent for a quarter of an hour.
func (c *call) step(do func() error) error {
	watch := time.AfterFunc(c.client.timeouts.Stall, func() { c.cancel(errStalled) })
	defer watch.Stop()
	return do()
}

// fail says what was wrong with the call: what the caller did itself apart from what
// the node did.
func (c *call) fail(err error) error {
	s := seen{err: err, answered: c.answered.Load(), expired: time.Since(c.start) >= c.limit, fault: c.client.witness.last()}
	limit := c.limit
	if errors.Is(context.Cause(c.ctx), errStalled) {
		s.err, s.expired, limit = status.FromContextError(context.DeadlineExceeded).Err(), true, c.client.timeouts.Stall
	}
	switch {
	case errors.Is(err, ErrClosedDoor):
		return err
	case errors.Is(c.caller.Err(), context.Canceled):
		return c.wrap(c.caller.Err())
	case c.client.conn.GetState() == connectivity.Shutdown, errors.Is(context.Cause(c.ctx), errOver) && status.Code(err) == codes.Canceled:
		return c.wrap(net.ErrClosed)
	}
	return c.client.explain(c.doing, s.kind(), s.cause(limit))
}

// wrap is an error that is none of the node's.
func (c *call) wrap(err error) error {
	return fmt.Errorf("%s at %s: %w", c.doing, c.client.address, err)
}
