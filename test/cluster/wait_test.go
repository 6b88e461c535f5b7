package cluster

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestUntilAnswersWhenNothingIsMissing(t *testing.T) {
	calls := 0
	err := Until(t.Context(), "three calls", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the check has no deadline")
		}
		if calls++; calls < 3 {
			return errors.New("more calls")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestUntilSaysWhatWasMissing(t *testing.T) {
	gone := errors.New("the process is gone")
	missing := errors.New("two of three members")
	for _, c := range []struct {
		name  string
		begin func() (context.Context, context.CancelFunc)
		cause error
		want  string
	}{
		{"deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 60*time.Millisecond)
		}, context.DeadlineExceeded, "wait for quorum: context deadline exceeded: still missing: two of three members"},
		{"given up with a cause", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(gone)
			return ctx, func() {}
		}, gone, "wait for quorum: the process is gone: still missing: two of three members"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := c.begin()
			defer cancel()
			err := Until(ctx, "quorum", func(ctx context.Context) error {
				if ctx.Err() != nil && c.cause != gone {
					return ctx.Err() // as a client's call would answer
				}
				return missing
			})
			if err == nil || err.Error() != c.want || !errors.Is(err, missing) || !errors.Is(err, c.cause) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}
