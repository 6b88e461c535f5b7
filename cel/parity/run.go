package parity

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/quorate/quorate/cel"
)

// Config says what is compared. A layer that is not there is left out.
type Config struct {
	Catalogue *cel.Catalogue
	Layers    map[cel.Layer]cel.Layered
	// First names the layers that tell the first of their findings alone, as the
	// API server does of policies.
	First []cel.Layer
	// Workers judge at the same time, each one pair in all layers.
	Workers int
}

// Run judges pairs in every layer and compares. It ends early with the context,
// and then is an error.
func Run(ctx context.Context, c Config, pairs iter.Seq[Pair]) (*Report, error) {
	rules := map[string]*cel.Rule{}
	for _, r := range c.Catalogue.Rules {
		rules[r.ID] = r
	}
	queue := make(chan Pair, 64)
	total := newReport()
	var lock sync.Mutex
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() {
			part := newReport()
			for p := range queue {
				part.judge(ctx, c, rules, p)
			}
			lock.Lock()
			defer lock.Unlock()
			total.merge(part)
		})
	}
	feed(ctx, queue, pairs)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return total, fmt.Errorf("judge pairs: %w after %d", err, total.Pairs)
	}
	return total, nil
}

func feed(ctx context.Context, queue chan<- Pair, pairs iter.Seq[Pair]) {
	defer close(queue)
	for p := range pairs {
		select {
		case queue <- p:
		case <-ctx.Done():
			return
		}
	}
}

// Webhook is the engine as the webhook asks it: never for the controller.
func Webhook(e *cel.Engine, controller string) cel.Layered { return webhook{e, controller} }

type webhook struct {
	engine     *cel.Engine
	controller string
}

func (w webhook) Judge(ctx context.Context, r *cel.Request) cel.Verdict {
	if r.User.Username == w.controller {
		return cel.VerdictOf(nil)
	}
	return w.engine.Judge(ctx, r)
}
