package cluster

import (
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLockOf(t *testing.T) {
	at := func(d time.Duration) *metav1.MicroTime { return &metav1.MicroTime{Time: start.Add(d)} }
	held := func(change func(*coordinationv1.Lease)) *coordinationv1.Lease {
		l := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"quorate.dev/operation": "remove talosmachine cp-2"}},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("m"), LeaseDurationSeconds: new(int32(30)), AcquireTime: at(-time.Minute), RenewTime: at(-29 * time.Second)},
		}
		if change != nil {
			change(l)
		}
		return l
	}
	cases := []struct {
		name  string
		lease *coordinationv1.Lease
		held  bool
	}{
		{"held", held(nil), true},
		{"expired", held(func(l *coordinationv1.Lease) { l.Spec.RenewTime = at(-30 * time.Second) }), false},
		{"given back", held(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil }), false},
		{"of nobody", held(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("") }), false},
		{"never renewed", held(func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil }), false},
		{"never acquired", held(func(l *coordinationv1.Lease) { l.Spec.AcquireTime = nil }), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := lockOf(c.lease, start)
			if (got != nil) != c.held {
				t.Fatalf("got %+v", got)
			}
			if got != nil && (got.Holder != "m" || got.Operation != "remove talosmachine cp-2" || !got.AcquiredAt.Time.Equal(start.Add(-time.Minute))) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// status.lock is there while somebody holds the lock.
func TestLockIsShown(t *testing.T) {
	w := newWorld(t)
	other := w.other("remove talosmachine cp-2")
	w.reconcile()
	if l := w.cluster().Status.Lock; l == nil || l.Holder != "other" || l.Operation != "remove talosmachine cp-2" {
		t.Errorf("got %+v", l)
	}
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	if l := w.cluster().Status.Lock; l != nil {
		t.Errorf("got %+v", l)
	}
	w.broken["get *v1.lease"] = errors.New("forbidden")
	if _, err := w.try(); err == nil || err.Error() != "status: read the lock: forbidden" {
		t.Errorf("got %v", err)
	}
}
