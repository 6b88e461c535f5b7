package talos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/connectivity"
)

// ask makes one call under its limit, and says what was wrong.
func ask[T any](ctx context.Context, n *Node, limit time.Duration, doing string, call func(context.Context) (T, error)) (T, error) {
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end).Round(time.Millisecond))
	}
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var answered atomic.Bool
	answer, err := call(withAnswer(bounded, &answered))
	if err == nil {
		return answer, nil
	}
	var none T
	s := seen{err: err, answered: answered.Load(), expired: time.Since(start) >= limit, fault: n.witness.last()}
	return none, n.blame(ctx, doing, s, limit)
}

// blame keeps what the caller did itself apart from what the node did.
func (n *Node) blame(ctx context.Context, doing string, s seen, limit time.Duration) error {
	switch {
	case errors.Is(s.err, ErrClosedDoor):
		return s.err
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s at %s: %w", doing, n.address, ctx.Err())
	case n.conn.GetState() == connectivity.Shutdown:
		return fmt.Errorf("%s at %s: %w", doing, n.address, net.ErrClosed)
	}
	return n.explain(doing, s.kind(), s.cause(limit))
}

// explain is every error of a node: what was done, the kind, what was seen, and the
// way out.
func (n *Node) explain(doing string, kind, cause error) error {
	return fmt.Errorf("%s at %s: %w: %w; %s", doing, n.address, kind, cause, waysOut[kind])
}
