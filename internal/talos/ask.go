package talos

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ask makes one call under its limit, and says what was wrong.
func ask[T any](ctx context.Context, n *Node, limit time.Duration, doing string, call func(context.Context) (T, error)) (T, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var answered atomic.Bool
	answer, err := call(withAnswer(bounded, &answered))
	if err == nil {
		return answer, nil
	}
	var none T
	doing = fmt.Sprintf("%s at %s", doing, n.address)
	if errors.Is(ctx.Err(), context.Canceled) {
		return none, fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	s := seen{err: err, answered: answered.Load(), fault: n.witness.last()}
	return none, explain(doing, s.kind(), s.cause(limit, bounded.Err()))
}

// explain is every error of a node: what was done, the kind, what was seen, and the
// way out.
func explain(doing string, kind, cause error) error {
	return fmt.Errorf("%s: %w: %w; %s", doing, kind, cause, waysOut[kind])
}

// cause is what says most: the fault of the connection, that time is up, or what
// gRPC has.
func (s seen) cause(limit time.Duration, expired error) error {
	switch {
	case s.answered:
		return s.err
	case s.fault != nil:
		return s.fault
	case expired != nil:
		return fmt.Errorf("silent for %s: %w", limit, expired)
	}
	return s.err
}
