package lease

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestCheckRenewsInTimeAndRefusesTooLittle(t *testing.T) {
	const tooLittle = `check the lock of cluster media/prod for "remove talosmachine cp-2": the lock is lost: ` +
		`it expires at 2026-03-01T12:00:30Z, and less than a third of its 30s is left; take it again`
	for name, c := range map[string]struct {
		after   time.Duration
		renewed time.Duration
		want    string
	}{
		"at once":            {},
		"after a third":      {after: 10 * time.Second},
		"just after a third": {after: 10*time.Second + time.Microsecond, renewed: 10*time.Second + time.Microsecond},
		"a third is left":    {after: 20 * time.Second, renewed: 20 * time.Second},
		"less is left":       {after: 20*time.Second + time.Microsecond, want: tooLittle},
		"expired":            {after: time.Hour, want: tooLittle},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			h := take(t, w.process("quorate"), removeCP2)
			w.after(c.after)
			err := h.Check(t.Context())
			switch {
			case c.want != "":
				says(t, err, c.want, ErrLost)
			case err != nil:
				t.Errorf("Check = %v", err)
			}
			l := w.lease(t)
			if got := l.Spec.RenewTime.Sub(start); got != c.renewed {
				t.Errorf("renewed after %s, want %s", got, c.renewed)
			}
			if *l.Spec.LeaseTransitions != 1 || !l.Spec.AcquireTime.Time.Equal(start) {
				t.Errorf("a renewal changed the hold: %+v", l.Spec)
			}
		})
	}
}

func TestARenewedHoldOutlastsItsFirstTime(t *testing.T) {
	w := newWorld(t)
	h := take(t, w.process("quorate"), removeCP2)
	for at := 15 * time.Second; at < 2*time.Minute; at += 15 * time.Second {
		w.after(at)
		if err := h.Check(t.Context()); err != nil {
			t.Fatalf("Check after %s = %v", at, err)
		}
	}
	_, err := w.process("other").Take(t.Context(), prod, removeCP3)
	says(t, err, `take the lock of cluster media/prod for "remove talosmachine cp-3": the lock is held by quorate `+
		`for "remove talosmachine cp-2"; unless it is renewed it expires at 2026-03-01T12:02:15Z`, ErrHeld)
}

func TestAnotherDurationIsHeldToTheEnd(t *testing.T) {
	w := newWorld(t)
	l := w.process("quorate")
	l.Duration = 2 * time.Minute
	h := take(t, l, removeCP2)
	w.after(40 * time.Second)
	if err := h.Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
	_, err := w.process("other").Take(t.Context(), prod, removeCP3)
	says(t, err, `take the lock of cluster media/prod for "remove talosmachine cp-3": the lock is held by quorate `+
		`for "remove talosmachine cp-2"; unless it is renewed it expires at 2026-03-01T12:02:00Z`, ErrHeld)
}

func TestALostHoldIsFoundLost(t *testing.T) {
	const check = `check the lock of cluster media/prod for "remove talosmachine cp-2": the lock is lost: `
	for name, c := range map[string]struct {
		lose func(*testing.T, *world)
		want string
	}{
		"taken by another after it expired": {
			lose: func(t *testing.T, w *world) {
				w.after(30 * time.Second)
				take(t, w.process("other"), removeCP3)
			},
			want: `it was held by quorate for "remove talosmachine cp-2", fence 5, ` +
				`and is held by other for "remove talosmachine cp-3", fence 6`,
		},
		"written by hand with the same fence": {
			lose: func(t *testing.T, w *world) {
				w.change(t, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("other") })
			},
			want: `it was held by quorate for "remove talosmachine cp-2", fence 5, ` +
				`and is held by other for "remove talosmachine cp-2", fence 5`,
		},
		"given back": {
			lose: func(t *testing.T, w *world) { w.change(t, vacate) },
			want: `it was held by quorate for "remove talosmachine cp-2", fence 5, and is free, fence 5`,
		},
		"rewound by a restore": {
			lose: func(t *testing.T, w *world) {
				w.change(t, func(l *coordinationv1.Lease) { l.Spec.LeaseTransitions = new(int32(3)) })
			},
			want: `it was held by quorate for "remove talosmachine cp-2", fence 5, ` +
				`and is held by quorate for "remove talosmachine cp-2", fence 3`,
		},
		"deleted": {
			lose: func(t *testing.T, w *world) { w.remove(t) },
			want: `Lease media/quorate-prod is gone`,
		},
		"deleted and made again": {
			lose: func(t *testing.T, w *world) {
				l := w.lease(t)
				w.remove(t)
				l.UID, l.ResourceVersion = "12", ""
				if err := w.api.Create(t.Context(), l); err != nil {
					t.Fatal(err)
				}
			},
			want: `Lease media/quorate-prod was deleted and made again`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, held("quorate", removeCP2))
			h := take(t, w.process("quorate"), removeCP2)
			c.lose(t, w)
			says(t, h.Check(t.Context()), check+c.want, ErrLost)
			before := w.dump(t)
			if err := h.Release(t.Context()); err != nil {
				t.Errorf("Release = %v, want nothing done", err)
			}
			if after := w.dump(t); after != before {
				t.Errorf("Release of a lost hold made %s of %s", after, before)
			}
		})
	}
}
