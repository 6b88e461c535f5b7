package parity

import (
	"context"
	"sync"
	"sync/atomic"
)

// workers is how many requests are on their way at a time.
const workers = 6

// inParallel does something for each index below count. The first error ends it.
func inParallel(ctx context.Context, count int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
