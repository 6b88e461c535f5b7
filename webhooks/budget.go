package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultBudget is what a verdict may spend on asking the API server, all
// questions together. It leaves the webhook's 5 seconds room for the way there
// and back, so that people read our refusal and not a time-out.
const DefaultBudget = 3 * time.Second

// budget is the time that one request has left.
type budget struct {
	limit time.Duration
	until time.Time
}

func newBudget(limit time.Duration) budget {
	return budget{limit: limit, until: time.Now().Add(limit)}
}

// bound ends ctx with the budget.
func (b budget) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, b.until)
}

// cause puts an error of the API server's client into words.
func (b budget) cause(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer from the API server within %s", b.limit)
	}
	return err.Error()
}
