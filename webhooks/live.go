package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/quorate/quorate/cel"
)

// Live reads objects of the gate's own group as they are now, never from a
// cache.
type Live interface {
	// Get returns the object; found is false where the API server knows that it
	// does not exist. An API server that cannot tell is an error.
	Get(ctx context.Context, resource, namespace, name string) (object map[string]any, found bool, err error)
	// List returns every object of the namespace, each a map[string]any.
	List(ctx context.Context, resource, namespace string) ([]any, error)
}

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
			value, err := readOne(ctx, g.live, target)
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

// readOne gives the object, null where there is none, or the namespace's list.
// It runs in a goroutine of its own, where a panic would end the process and
// with it the gate for everybody.
func readOne(ctx context.Context, live Live, t cel.LiveTarget) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("the reader crashed: %v", p)
		}
	}()
	if t.Name == "" {
		return live.List(ctx, t.Resource, t.Namespace)
	}
	object, found, err := live.Get(ctx, t.Resource, t.Namespace, t.Name)
	if err != nil || !found {
		return nil, err
	}
	return object, nil
}

// unread refuses a request for want of an answer, in the same words whichever
// read failed first.
func unread(b budget, failed ...failedRead) error {
	parts := make([]string, 0, len(failed))
	for _, f := range failed {
		parts = append(parts, fmt.Sprintf("could not read %s: %s", described(f.target), b.cause(f.err)))
	}
	slices.Sort(parts)
	return refuseForNow(liveRead, "%s; nothing was changed, retry", strings.Join(parts, "; "))
}

func described(t cel.LiveTarget) string {
	if t.Name == "" {
		return fmt.Sprintf("the %s of namespace %q", t.Resource, t.Namespace)
	}
	return fmt.Sprintf("%s %q in namespace %q", t.Resource, t.Name, t.Namespace)
}
