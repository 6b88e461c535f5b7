package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/test/cluster"
)

var sizes = []int{0, 1, 3, 5}

// walker edits spec.replicas as an operator does who does not look.
type walker struct {
	random *rand.Rand
	tally  *tally
	meter  *meter
}

func (w *walker) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := w.edit(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// How long an Etcd is left alone: asleep, awake, and until a change that is waited for
// is over.
const (
	napFrom, napTo   = time.Second, 4 * time.Second
	restFrom, restTo = 2 * time.Second, 8 * time.Second
	watchedFor       = 40 * time.Second
)

// edit tries one edit, and says how long to wait before the next one. Every other edit
// that is admitted is waited for, so that changes are both finished and overtaken.
func (w *walker) edit(ctx context.Context) time.Duration {
	wait := w.random.IntN(2) == 0
	e, err := get(ctx)
	if err != nil {
		w.tally.add("edits that found no API server", err.Error())
		return time.Second
	}
	now := int(ptr.Deref(e.Spec.Replicas, 0))
	to := w.target(now, int(ptr.Deref(e.Status.HibernatedReplicas, home)))
	admitted := w.try(ctx, now, to)
	if !admitted {
		to = now
	}
	if to == 0 {
		return between(w.random, napFrom, napTo)
	}
	if admitted && wait {
		w.finish(ctx, to)
	}
	return between(w.random, restFrom, restTo)
}

// target is the next size. Of the edits that wake, one in four is to any size.
func (w *walker) target(now, recorded int) int {
	others := slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n == now })
	to := others[w.random.IntN(len(others))]
	if now == 0 && w.random.IntN(4) > 0 {
		return recorded
	}
	return to
}

func (w *walker) try(ctx context.Context, from, to int) bool {
	err := scale(ctx, to)
	step := fmt.Sprintf("%d to %d", from, to)
	switch {
	case err == nil:
		w.meter.sleeps(to == 0)
		w.tally.add("edits admitted", step)
		return true
	case ruleOf(err) != "":
		w.tally.add("edits refused by "+ruleOf(err), step)
	default:
		w.tally.add("edits that found no API server", step+": "+err.Error())
		w.meter.sleeps(to == 0 && from == 0) // it may have been done
	}
	return false
}

var ruleAtEnd = regexp.MustCompile(`\(([a-z-]+)\)`)

// ruleOf is the rule that refused; empty for another error.
func ruleOf(err error) string {
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		return ""
	}
	found := ruleAtEnd.FindStringSubmatch(err.Error())
	if found == nil {
		return ""
	}
	return found[1]
}

func (w *walker) finish(ctx context.Context, size int) {
	ctx, cancel := context.WithTimeout(ctx, watchedFor)
	defer cancel()
	err := cluster.Until(ctx, "the change", func(ctx context.Context) error {
		e, err := get(ctx)
		if err != nil {
			return err
		}
		return settled(e, size)
	})
	if err == nil {
		w.tally.add("changes seen to finish", fmt.Sprint(size))
	}
}

// comeHome walks to the last size, as admission lets it, and waits until all is well.
func (w *walker) comeHome(ctx context.Context) error {
	return cluster.Until(ctx, "three healthy voters and a clean status", func(ctx context.Context) error {
		e, err := get(ctx)
		if err != nil {
			return err
		}
		switch now := int(ptr.Deref(e.Spec.Replicas, 0)); {
		case now == home:
			if err := settled(e, home); err != nil {
				return err
			}
			return exactly(ctx, home)
		case now == 0:
			w.try(ctx, now, int(ptr.Deref(e.Status.HibernatedReplicas, home)))
		case settled(e, now) == nil: // before, it would be refused
			w.try(ctx, now, home)
		}
		return fmt.Errorf("%w: %s", errNotYet, describe(e))
	})
}
