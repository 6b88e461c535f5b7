package talos

import (
	"context"
	"fmt"
	"time"
)

// ask makes one call under its limit, and says what was wrong.
func ask[T any](ctx context.Context, c *client, limit time.Duration, doing string, do func(context.Context) (T, error)) (T, error) {
	one := c.begin(ctx, limit, doing)
	defer one.end()
	answer, err := do(one.ctx)
	if err != nil {
		var none T
		return none, one.fail(err)
	}
	return answer, nil
}

// explain is every error of a node: what was done, the kind, what was seen, and the
// way out.
func (c *client) explain(doing string, kind, cause error) error {
	return fmt.Errorf("%s at %s: %w: %w; %s", doing, c.address, kind, cause, waysOut[kind])
}
