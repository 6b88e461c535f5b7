package cluster

import (
	"context"
	"fmt"
	"time"
)

const (
	// patience is how long Until waits when its context has no deadline.
	patience = time.Minute
	// pollEvery is short against everything that is waited for here.
	pollEvery = 50 * time.Millisecond
)

// Until calls check until it answers nil. The error that check answers says
// what is still missing; the last one is part of Until's error, together with
// the context's. A context without a deadline gets one of a minute.
func Until(ctx context.Context, what string, check func(context.Context) error) error {
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = bounded
	}
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var missing error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// A check that the deadline cut short has nothing to say of its own.
		if missing == nil || ctx.Err() == nil {
			missing = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: still missing: %w", what, context.Cause(ctx), missing)
		case <-ticker.C:
		}
	}
}
