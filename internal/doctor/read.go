package doctor

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// read makes one call with a deadline of its own.
func read[T any](ctx context.Context, c Config, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return call(ctx)
}

// unread is the finding for something that could not be read. permission is what
// RBAC must grant, e.g. "get secrets in quorate-system".
func (c Config) unread(what, permission string, err error) Finding {
	f := Finding{State: Unknown}
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		f.Seen = fmt.Sprintf("%s may not be read by you", what)
		f.WayOut = fmt.Sprintf("Ask for the permission to %s, or let somebody run this who has it.", permission)
	case errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err):
		f.Seen = fmt.Sprintf("%s could not be read: no answer within %s", what, c.Timeout)
		f.WayOut = "Look at the API server's health, then run this again."
	default:
		f.Seen = fmt.Sprintf("%s could not be read: %v", what, err)
		f.WayOut = "Look at the error, then run this again."
	}
	return f
}

// one reads an object that has to be there. The finding is nil if it is.
func one[T any](ctx context.Context, c Config, what, permission string, missing Finding, call func(context.Context) (T, error)) (T, *Finding) {
	object, err := read(ctx, c, call)
	switch {
	case err == nil:
		return object, nil
	case apierrors.IsNotFound(err):
		return object, &missing
	}
	f := c.unread(what, permission, err)
	return object, &f
}
