package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// A round is a handful of keys and what was done to them. A history is judged round by
// round and then forgotten, so that memory and the time of judging stay bounded.
const (
	roundKeys       = 5
	roundOperations = 800
	// roundsWaiting is how many rounds may wait to be judged before clients do.
	roundsWaiting = 16
)

type round struct {
	number     int
	taken      int
	open       int
	operations []porcupine.Operation
}

func (r *round) key(i int) string { return fmt.Sprintf("/round/%d/%d", r.number, i) }

// book records what clients do.
type book struct {
	began time.Time
	full  chan *round

	mu      sync.Mutex
	current *round
	counts  map[string]int
}

func newBook() *book {
	return &book{began: time.Now(), full: make(chan *round, roundsWaiting), current: &round{}, counts: map[string]int{}}
}

// now is in nanoseconds, by the monotonic clock.
func (b *book) now() int64 { return time.Since(b.began).Nanoseconds() }

// enter gives the round that the next operation belongs to.
func (b *book) enter() *round {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.current
	r.taken++
	r.open++
	if r.taken == roundOperations {
		b.current = &round{number: r.number + 1}
	}
	return r
}

// leave records an operation, and passes the round on after its last one.
func (b *book) leave(r *round, o *porcupine.Operation) {
	b.mu.Lock()
	if o != nil {
		r.operations = append(r.operations, *o)
	}
	b.count(o)
	r.open--
	over := r.open == 0 && r != b.current
	b.mu.Unlock()
	if over {
		b.full <- r
	}
}

// close passes on the round that is not full; no client is left.
func (b *book) close() {
	b.full <- b.current
	close(b.full)
}

func (b *book) count(o *porcupine.Operation) {
	if o == nil {
		b.counts["reads that failed"]++
		return
	}
	kind := string(o.Input.(request).do)
	if o.Output.(response).unknown {
		kind += " of unknown outcome"
	}
	b.counts[kind]++
}

// sealed is what is left of a judged round: the last value of each key, and those that
// an operation of unknown outcome may still turn it into.
type sealed map[string][]string

// lookup reads a key, however long that takes.
type lookup func(ctx context.Context, key string) (string, error)

// auditor judges rounds as they fill up.
type auditor struct {
	book *book
	look lookup

	rounds, operations int
	last               []porcupine.Operation // of the last round, as it was judged
	kept               []sealed
}

// run goes on after a verdict: all of them are told.
func (a *auditor) run(ctx context.Context) error {
	var errs []error
	for r := range a.book.full {
		if err := a.seal(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("round %d: %w", r.number, err))
		}
	}
	return errors.Join(errs...)
}

// seal reads the keys of a round once more, and judges it.
func (a *auditor) seal(ctx context.Context, r *round) error {
	kept := sealed{}
	for i := range roundKeys {
		key, call := r.key(i), a.book.now()
		value, err := a.look(ctx, key)
		if err != nil {
			return err
		}
		kept[key] = []string{value}
		r.operations = append(r.operations, porcupine.Operation{
			Input: request{key: key, do: read}, Call: call, Output: response{value: value}, Return: a.book.now(),
		})
	}
	for _, o := range r.operations {
		if in := o.Input.(request); o.Output.(response).unknown {
			kept[in.key] = append(kept[in.key], in.new)
		}
	}
	a.rounds, a.operations = a.rounds+1, a.operations+len(r.operations)
	a.last, a.kept = r.operations, append(a.kept, kept)
	return judge(r.operations, judgeFor)
}
