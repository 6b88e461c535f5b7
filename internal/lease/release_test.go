package lease

import "testing"

func TestAReleasedLockIsFreeAtOnceAndItsFenceGoesOn(t *testing.T) {
	w := newWorld(t)
	first := take(t, w.process("quorate"), removeCP2)
	if err := first.Release(t.Context()); err != nil {
		t.Fatalf("Release = %v", err)
	}
	says(t, first.Check(t.Context()), `check the lock of cluster media/prod for "remove talosmachine cp-2": the lock is lost: `+
		`it was held by quorate for "remove talosmachine cp-2", fence 1, and is free, fence 1`, ErrLost)
	if err := first.Release(t.Context()); err != nil {
		t.Errorf("the second Release = %v", err)
	}
	next := take(t, w.process("other"), removeCP3)
	if next.Fence() != 2 {
		t.Errorf("fence = %d, want 2", next.Fence())
	}
	if err := first.Release(t.Context()); err != nil {
		t.Errorf("Release of what another holds = %v", err)
	}
	if err := next.Check(t.Context()); err != nil {
		t.Errorf("the other's Check = %v", err)
	}
}

func TestOneIdentityHoldsTheLocksOfSeveralClusters(t *testing.T) {
	w := newWorld(t)
	l := w.process("quorate")
	one := take(t, l, removeCP2)
	other := prod
	other.Name = "staging"
	two, err := l.Take(t.Context(), other, removeCP3)
	if err != nil {
		t.Fatalf("Take of another cluster = %v", err)
	}
	for _, h := range []*Held{one, two} {
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("Check = %v", err)
		}
	}
}
