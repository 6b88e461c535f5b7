package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Held is one hold of a cluster's lock. Safe for many at once.
type Held struct {
	locks    *Locks
	cluster  types.NamespacedName
	uid      types.UID // of the Lease: one that was deleted begins its fence again
	is       record
	acquired time.Time
}

func newHeld(l *Locks, cluster types.NamespacedName, lease *coordinationv1.Lease) *Held {
	is := read(lease, l.duration())
	return &Held{locks: l, cluster: cluster, uid: lease.UID, is: is, acquired: is.acquired}
}

// Fence is the number of the hold: higher with each take of the Lease.
func (h *Held) Fence() int64 { return h.is.fence }

// AcquiredAt is since when the identity has held the lock for the operation.
func (h *Held) AcquiredAt() time.Time { return h.acquired }

// Check asks the API server whether the hold still is, and renews it when more than a
// third of its time has passed. Nil means that at least a third is left, so call it
// right before each act. ErrLost: the lock is somebody else's, of a later process of
// the same identity, or too near its end; any other error means that it is not known.
func (h *Held) Check(ctx context.Context) error {
	if err := h.check(ctx); err != nil {
		return fmt.Errorf("check the lock of cluster %s for %q: %w", h.cluster, h.is.operation, err)
	}
	return nil
}

func (h *Held) check(ctx context.Context) error {
	lease, err := h.own(ctx)
	if err != nil {
		return err
	}
	now, is := h.locks.Clock.Now(), read(lease, h.locks.duration())
	switch {
	case is.tooLittle(now):
		return fmt.Errorf("%w: it expires at %s, and less than a third of its %s is left; take it again",
			ErrLost, is.expires().UTC().Format(time.RFC3339), is.duration)
	case is.renewable(now):
		return h.renew(ctx, lease, now)
	}
	return nil
}

func (h *Held) renew(ctx context.Context, lease *coordinationv1.Lease, now time.Time) error {
	lease.Spec.RenewTime = &metav1.MicroTime{Time: now}
	err := h.locks.write(ctx, lease, true)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: somebody else changed it at the same moment: %w", ErrLost, err)
	}
	return err
}

// own is the Lease as it is now, if this hold is still in it.
func (h *Held) own(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, found, err := h.locks.get(ctx, h.cluster)
	if err != nil {
		return nil, err
	}
	is := read(lease, h.locks.duration())
	switch {
	case !found:
		return nil, fmt.Errorf("%w: Lease %s/%s is gone", ErrLost, lease.Namespace, lease.Name)
	case lease.UID != h.uid:
		return nil, fmt.Errorf("%w: Lease %s/%s was deleted and made again", ErrLost, lease.Namespace, lease.Name)
	case !is.held(h.is.holder, h.is.operation) || is.fence != h.is.fence:
		return nil, fmt.Errorf("%w: it was %s, and is %s", ErrLost, h.is, is)
	}
	return lease, nil
}
