package lease

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestAFreeLockIsTaken(t *testing.T) {
	w := newWorld(t)
	got := take(t, w.process("quorate"), removeCP2)
	if got.Fence() != 1 || !got.AcquiredAt().Equal(start) {
		t.Errorf("fence %d, acquired at %s; want 1, %s", got.Fence(), got.AcquiredAt(), start)
	}
	l := w.lease(t)
	if *l.Spec.HolderIdentity != "quorate" || *l.Spec.LeaseDurationSeconds != 30 || *l.Spec.LeaseTransitions != 1 ||
		!l.Spec.AcquireTime.Equal(l.Spec.RenewTime) || !l.Spec.RenewTime.Time.Equal(start) ||
		l.Annotations[OperationAnnotation] != removeCP2 {
		t.Errorf("Lease = %+v, annotations %v", l.Spec, l.Annotations)
	}
	if err := got.Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
}

func TestTake(t *testing.T) {
	empty := func(*coordinationv1.Lease) {}
	for name, c := range map[string]struct {
		lease    *coordinationv1.Lease
		change   func(*coordinationv1.Lease)
		after    time.Duration
		acquired time.Time // zero: refused
		want     string
	}{
		"held by another": {
			lease: held("other", removeCP3), change: empty, after: 29 * time.Second,
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held by other ` +
				`for "remove talosmachine cp-3"; unless it is renewed it expires at 2026-03-01T12:00:30Z`,
		},
		"held by another for the same": {
			lease: held("other", removeCP2), change: empty,
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held by other ` +
				`for "remove talosmachine cp-2"; unless it is renewed it expires at 2026-03-01T12:00:30Z`,
		},
		"held by itself for something else": {
			lease: held("quorate", removeCP3), change: empty, after: 29 * time.Second,
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held by quorate ` +
				`for "remove talosmachine cp-3"; unless it is renewed it expires at 2026-03-01T12:00:30Z`,
		},
		"held longer than usual": {
			lease: held("other", removeCP3), after: time.Minute,
			change: func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = new(int32(61)) },
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held by other ` +
				`for "remove talosmachine cp-3"; unless it is renewed it expires at 2026-03-01T12:01:01Z`,
		},
		"held without a renewal": {
			lease: held("other", removeCP3), change: func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil },
			want: `take the lock of cluster media/prod for "remove talosmachine cp-2": the lock is held by other ` +
				`for "remove talosmachine cp-3"; unless it is renewed it expires at 2026-03-01T12:00:30Z`,
		},
		"expired": {
			lease: held("other", removeCP3), change: empty, after: 30 * time.Second,
			acquired: start.Add(30 * time.Second),
		},
		"held by itself for the same": {
			lease: held("quorate", removeCP2), change: empty, after: 29 * time.Second, acquired: start,
		},
		"its own, and expired": {
			lease: held("quorate", removeCP2), change: empty, after: 30 * time.Second,
			acquired: start.Add(30 * time.Second),
		},
		"given back": {lease: held("other", removeCP3), change: vacate, acquired: start},
		"made empty by hand": {
			lease: held("", ""), acquired: start,
			change: func(l *coordinationv1.Lease) { l.Annotations, l.Spec.LeaseDurationSeconds = nil, nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.change(c.lease)
			w := newWorld(t, c.lease)
			w.after(c.after)
			got, err := w.process("quorate").Take(t.Context(), prod, removeCP2)
			if c.want != "" {
				says(t, err, c.want, ErrHeld)
				return
			}
			if err != nil || got.Fence() != 5 || !got.AcquiredAt().Equal(c.acquired) {
				t.Fatalf("Take = %+v, %v; want fence 5, acquired at %s", got, err, c.acquired)
			}
			if err := got.Check(t.Context()); err != nil {
				t.Errorf("Check = %v", err)
			}
		})
	}
}

// covers: B-14
func TestAKilledManagerTakesItsOwnLockAgainAtOnce(t *testing.T) {
	w := newWorld(t)
	old := take(t, w.process("quorate"), removeCP2)
	w.after(time.Second)
	again := take(t, w.process("quorate"), removeCP2)
	if again.Fence() <= old.Fence() || !again.AcquiredAt().Equal(start) {
		t.Errorf("fence %d after %d, acquired at %s; want a higher one, and %s",
			again.Fence(), old.Fence(), again.AcquiredAt(), start)
	}
	says(t, old.Check(t.Context()), `check the lock of cluster media/prod for "remove talosmachine cp-2": the lock is lost: `+
		`it was held by quorate for "remove talosmachine cp-2", fence 1, `+
		`and is held by quorate for "remove talosmachine cp-2", fence 2`, ErrLost)
	if err := old.Release(t.Context()); err != nil {
		t.Errorf("Release of the lost hold = %v", err)
	}
	if err := again.Check(t.Context()); err != nil {
		t.Errorf("Check after the older process gave its hold back = %v", err)
	}
}

func TestWhatOthersWroteInTheLeaseStays(t *testing.T) {
	w := newWorld(t, held("quorate", removeCP2))
	if err := take(t, w.process("quorate"), removeCP2).Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.lease(t).Annotations; len(got) != 1 || got["example.com/note"] != "kept" {
		t.Errorf("annotations = %v, want the other's alone", got)
	}
}
