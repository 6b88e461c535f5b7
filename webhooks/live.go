package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/kube"
)

// Live reads objects of the gate's own group as they are now, never from a
// cache.
type Live = kube.Reader

// failedRead is a live read without an answer.
type failedRead struct {
	target cel.LiveTarget
	err    error
}

// readLive reads what the rules want to know of the world, all at once. A
// missing object is null; anything that could not be read refuses the request,
// since a rule must not judge a world that it has not seen.
func (g *Gate) readLive(ctx context.Context, b budget, targets map[string]cel.LiveTarget) (map[string]any, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		values = make(map[string]any, len(targets))
		failed []failedRead
	)
	for name, target := range targets {
		wg.Go(func() {
			value, err := kube.Read(ctx, g.live, target)
			mu.Lock()
			defer mu.Unlock()
			values[name] = value
			if err != nil {
				failed = append(failed, failedRead{target, err})
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return nil, unread(b, failed...)
	}
	return values, nil
}

// unread refuses a request for want of an answer, in the same words whichever
// read failed first.
func unread(b budget, failed ...failedRead) error {
	parts := make([]string, 0, len(failed))
	for _, f := range failed {
		parts = append(parts, fmt.Sprintf("could not read %s: %s", described(f.target), b.cause(f.err)))
	}
	slices.Sort(parts)
	return refuseForNow(liveRead, "%s; nothing was changed, %s", strings.Join(parts, "; "), wayOut(failed))
}

// wayOut: no retry makes a namespace smaller.
func wayOut(failed []failedRead) string {
	for _, f := range failed {
		if errors.Is(f.err, kube.ErrTooMany) {
			return fmt.Sprintf("and a retry will not help: delete %s that are not needed any more, such as completed operations, and try again then", f.target.Resource)
		}
	}
	return "retry"
}

func described(t cel.LiveTarget) string {
	if t.Name == "" {
		return fmt.Sprintf("the %s of namespace %q", t.Resource, t.Namespace)
	}
	return fmt.Sprintf("%s %q in namespace %q", t.Resource, t.Name, t.Namespace)
}
