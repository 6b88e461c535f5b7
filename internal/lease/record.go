package lease

import (
	"fmt"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OperationAnnotation of a Lease says what the lock is held for.
const OperationAnnotation = "quorate.dev/operation"

// record is what a Lease says, with the gaps filled that others may leave in one.
type record struct {
	holder, operation string // holder is empty when the lock is free
	acquired, renewed time.Time
	duration          time.Duration
	fence             int64
}

func read(l *coordinationv1.Lease, duration time.Duration) record {
	r := record{operation: l.Annotations[OperationAnnotation], duration: duration}
	if l.Spec.HolderIdentity != nil {
		r.holder = *l.Spec.HolderIdentity
	}
	if l.Spec.LeaseDurationSeconds != nil {
		r.duration = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	if l.Spec.LeaseTransitions != nil {
		r.fence = int64(*l.Spec.LeaseTransitions)
	}
	r.acquired = timeOr(l.Spec.AcquireTime, l.CreationTimestamp.Time)
	r.renewed = timeOr(l.Spec.RenewTime, r.acquired)
	return r
}

func timeOr(t *metav1.MicroTime, otherwise time.Time) time.Time {
	if t == nil {
		return otherwise
	}
	return t.Time
}

func (r record) expires() time.Time { return r.renewed.Add(r.duration) }

func (r record) expired(now time.Time) bool { return !now.Before(r.expires()) }

// free says whether a process may take the lock: nobody holds it any more, or it
// held the lock for the same operation before it was killed.
func (r record) free(identity, operation string, now time.Time) bool {
	return r.holder == "" || r.expired(now) || r.held(identity, operation)
}

func (r record) held(identity, operation string) bool {
	return r.holder == identity && r.operation == operation
}

// tooLittle: what is left would not outlast an act, and clocks that differ.
func (r record) tooLittle(now time.Time) bool { return r.expires().Sub(now) < r.duration/3 }

func (r record) renewable(now time.Time) bool { return now.Sub(r.renewed) > r.duration/3 }

func (r record) String() string {
	if r.holder == "" {
		return fmt.Sprintf("free, fence %d", r.fence)
	}
	return fmt.Sprintf("held by %s for %q, fence %d", r.holder, r.operation, r.fence)
}

// claim writes a new hold into the Lease: the fence rises with each. Retaken without
// a gap, the lock has been held since it was acquired first.
func claim(l *coordinationv1.Lease, identity, operation string, duration time.Duration, now time.Time) {
	was := read(l, duration)
	acquired := now
	if was.held(identity, operation) && !was.expired(now) {
		acquired = was.acquired
	}
	if l.Annotations == nil {
		l.Annotations = map[string]string{}
	}
	l.Annotations[OperationAnnotation] = operation
	l.Spec.HolderIdentity = &identity
	l.Spec.LeaseDurationSeconds = new(int32(math.Ceil(duration.Seconds())))
	l.Spec.LeaseTransitions = new(int32(was.fence + 1))
	l.Spec.AcquireTime = &metav1.MicroTime{Time: acquired}
	l.Spec.RenewTime = &metav1.MicroTime{Time: now}
}

// vacate frees the lock. The Lease stays, since its fence must not begin again.
func vacate(l *coordinationv1.Lease) {
	delete(l.Annotations, OperationAnnotation)
	l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.RenewTime = nil, nil, nil
}
