package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var errDown = errors.New("connection refused")

// failing is a process whose calls of one verb fail.
func failing(w *world, verb string) *Locks {
	l := w.process("quorate")
	fail := func(of string) error {
		if of == verb {
			return errDown
		}
		return nil
	}
	c := interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return errors.Join(fail("get"), c.Get(ctx, k, o, opts...))
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return errors.Join(fail("create"), c.Create(ctx, o, opts...))
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return errors.Join(fail("update"), c.Update(ctx, o, opts...))
		},
	})
	l.Live, l.Client = c, c
	return l
}

func TestErrorsOfTheAPIServerAreNamed(t *testing.T) {
	takeIt := func(t *testing.T, l *Locks, _ *Held) error {
		_, err := l.Take(t.Context(), prod, removeCP2)
		return err
	}
	check := func(t *testing.T, _ *Locks, h *Held) error { return h.Check(t.Context()) }
	release := func(t *testing.T, _ *Locks, h *Held) error { return h.Release(t.Context()) }
	const of = ` the lock of cluster media/prod for "remove talosmachine cp-2": `
	for name, c := range map[string]struct {
		verb string
		act  func(*testing.T, *Locks, *Held) error
		gone bool
		want string
	}{
		"take, get":       {"get", takeIt, false, "take" + of + "get Lease media/quorate-prod: connection refused"},
		"take, create":    {"create", takeIt, true, "take" + of + "create Lease media/quorate-prod: connection refused"},
		"take, update":    {"update", takeIt, false, "take" + of + "update Lease media/quorate-prod: connection refused"},
		"check, get":      {"get", check, false, "check" + of + "get Lease media/quorate-prod: connection refused"},
		"check, update":   {"update", check, false, "check" + of + "update Lease media/quorate-prod: connection refused"},
		"release, get":    {"get", release, false, "release" + of + "get Lease media/quorate-prod: connection refused"},
		"release, update": {"update", release, false, "release" + of + "update Lease media/quorate-prod: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			h := take(t, w.process("quorate"), removeCP2)
			w.after(15 * time.Second)
			if c.gone {
				w.remove(t)
			}
			l := failing(w, c.verb)
			h.locks = l
			err := c.act(t, l, h)
			says(t, err, c.want, nil)
			if !errors.Is(err, errDown) {
				t.Errorf("the cause is not in %v", err)
			}
		})
	}
}

// An answer that got lost: the take happened, and is taken again.
func TestATakeThatLostItsAnswerIsTakenAgain(t *testing.T) {
	for _, verb := range []string{"create", "update"} {
		w := newWorld(t)
		if verb == "update" {
			w = newWorld(t, held("other", removeCP3))
			w.after(time.Minute)
		}
		if _, err := failing(w, verb).Take(t.Context(), prod, removeCP2); !errors.Is(err, errDown) {
			t.Fatalf("Take = %v, want a lost answer", err)
		}
		h := take(t, w.process("quorate"), removeCP2)
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("after a lost answer to %s: Check = %v", verb, err)
		}
	}
}

func TestARaceWhoseWinnerIsNotKnownIsHeld(t *testing.T) {
	w := newWorld(t, held("quorate", removeCP2))
	l := between(w, func() { w.change(t, vacate) })
	reads := 0
	l.Live = interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if reads++; reads > 1 {
				return errDown
			}
			return c.Get(ctx, k, o, opts...)
		},
	})
	_, err := l.Take(t.Context(), prod, removeCP2)
	says(t, err, `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held: `+
		`somebody else changed it at the same moment: get Lease media/quorate-prod: connection refused`, ErrHeld)
}

func TestEveryCallHasADeadlineOfAThird(t *testing.T) {
	w := newWorld(t)
	l := w.process("quorate")
	calls := 0
	bounded := func(ctx context.Context) {
		calls++
		if at, ok := ctx.Deadline(); !ok || time.Until(at) > 4*time.Second {
			t.Errorf("call %d ends at %v, %t; want at most 4s", calls, at, ok)
		}
	}
	c := interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			bounded(ctx)
			return c.Get(ctx, k, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			bounded(ctx)
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			bounded(ctx)
			return c.Update(ctx, o, opts...)
		},
	})
	l.Live, l.Client, l.Duration = c, c, 12*time.Second
	h := take(t, l, removeCP2)
	w.after(6 * time.Second)
	if err := errors.Join(h.Check(t.Context()), h.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	if calls != 6 {
		t.Errorf("%d calls, want 6: a read and a write each to take, renew and release", calls)
	}
}
