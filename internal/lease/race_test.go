package lease

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// together makes a process wait after its first read until all others have read too.
func together(l *Locks, api client.WithWatch, all *sync.WaitGroup) *Locks {
	var once sync.Once
	all.Add(1)
	l.Live = interceptor.NewClient(api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			once.Do(func() { all.Done(); all.Wait() })
			return err
		},
	})
	return l
}

func TestOfTwoAtOnceExactlyOneWins(t *testing.T) {
	for name, leases := range map[string][]*coordinationv1.Lease{
		"no Lease yet": nil,
		"one that ran": {held("before", removeCP3)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, leases...)
			w.after(30 * time.Second)
			var (
				all, done sync.WaitGroup
				names     = []string{"one", "two"}
				holds     = make([]*Held, 2)
				errs      = make([]error, 2)
			)
			processes := []*Locks{together(w.process("one"), w.api, &all), together(w.process("two"), w.api, &all)}
			for i, l := range processes {
				done.Go(func() { holds[i], errs[i] = l.Take(t.Context(), prod, removeCP2) })
			}
			done.Wait()
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			if errs[winner] != nil {
				t.Fatalf("nobody won: %v; %v", errs[0], errs[1])
			}
			says(t, errs[1-winner], fmt.Sprintf(`take the lock of cluster media/prod for "remove talosmachine cp-2": `+
				`the lock is held by %s for "remove talosmachine cp-2"; `+
				`unless it is renewed it expires at 2026-03-01T12:01:00Z`, names[winner]), ErrHeld)
			if err := holds[winner].Check(t.Context()); err != nil {
				t.Errorf("the winner's Check = %v", err)
			}
		})
	}
}

// between does something after a process's read and before its write.
func between(w *world, do func()) *Locks {
	l := w.process("quorate")
	l.Client = interceptor.NewClient(w.api, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			do()
			return c.Update(ctx, o, opts...)
		},
	})
	return l
}

func TestWhatChangesBeforeTheWriteIsNotOverwritten(t *testing.T) {
	const conflict = `update Lease media/quorate-prod: Operation cannot be fulfilled on leases.coordination.k8s.io ` +
		`"quorate-prod": object was modified`
	lose := func(l *coordinationv1.Lease) {
		l.Spec.HolderIdentity, l.Spec.LeaseTransitions = new("other"), new(int32(9))
	}
	for name, c := range map[string]struct {
		change func(*coordinationv1.Lease)
		act    func(*testing.T, *Locks, *Held) error
		want   string
		is     error
	}{
		"taking, and given back again": {
			change: vacate,
			act: func(t *testing.T, l *Locks, _ *Held) error {
				_, err := l.Take(t.Context(), prod, removeCP2)
				return err
			},
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held: ` +
				`somebody else changed it at the same moment; try again`,
			is: ErrHeld,
		},
		"renewing": {
			change: lose,
			act:    func(t *testing.T, _ *Locks, h *Held) error { return h.Check(t.Context()) },
			want: `check the lock of cluster media/prod for "remove talosmachine cp-2": the lock is lost: ` +
				`somebody else changed it at the same moment: ` + conflict,
			is: ErrLost,
		},
		"giving back": {
			change: lose,
			act:    func(t *testing.T, _ *Locks, h *Held) error { return h.Release(t.Context()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, held("quorate", removeCP2))
			h := take(t, w.process("quorate"), removeCP2)
			l := between(w, func() { w.change(t, c.change) })
			h.locks = l
			w.after(15 * time.Second)
			err := c.act(t, l, h)
			switch {
			case c.want != "":
				says(t, err, c.want, c.is)
			case err != nil:
				t.Errorf("error = %v, want none", err)
			}
			got, want := w.lease(t), held("quorate", removeCP2)
			want.Spec.LeaseTransitions = new(int32(5))
			c.change(want)
			if read(got, 0).String() != read(want, 0).String() {
				t.Errorf("the Lease is %s, want what the other wrote: %s", read(got, 0), read(want, 0))
			}
		})
	}
}
