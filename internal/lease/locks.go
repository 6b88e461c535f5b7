package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What a caller branches on.
var (
	// ErrHeld: somebody else holds the lock, or the same process for something else.
	ErrHeld = errors.New("the lock is held")
	// ErrLost: the hold is over, or too near its end to act under it.
	ErrLost = errors.New("the lock is lost")
)

// DefaultDuration is how long a lock outlives a holder that does not renew it.
const DefaultDuration = 30 * time.Second

// Locks are the locks of the clusters, as one process takes them. Safe for many at
// once.
type Locks struct {
	// Live reads the API server itself: a cached Lease says nothing about now.
	Live client.Reader
	// Client writes Leases.
	Client client.Client
	Clock  clock.PassiveClock
	// Identity is the holder; the same after a restart, and no other process's.
	Identity string
	// Duration is in whole seconds, at least 3; 0 is DefaultDuration. A third of it
	// bounds each call to the API server.
	Duration time.Duration
}

// Take takes the lock of a cluster for an operation. It fails with ErrHeld while
// somebody else has it; the same identity and operation take their own lock again
// at once, and whoever took it before them has lost it.
func (l *Locks) Take(ctx context.Context, cluster types.NamespacedName, operation string) (*Held, error) {
	held, err := l.take(ctx, cluster, operation)
	if err != nil {
		return nil, fmt.Errorf("take the lock of cluster %s for %q: %w", cluster, operation, err)
	}
	return held, nil
}

func (l *Locks) take(ctx context.Context, cluster types.NamespacedName, operation string) (*Held, error) {
	lease, found, err := l.get(ctx, cluster)
	if err != nil {
		return nil, err
	}
	now := l.Clock.Now()
	if is := read(lease, l.duration()); !is.free(l.Identity, operation, now) {
		return nil, heldError(is)
	}
	claim(lease, l.Identity, operation, l.duration(), now)
	if err := l.write(ctx, lease, found); err != nil {
		return nil, l.lostRace(ctx, cluster, err)
	}
	return newHeld(l, cluster, lease), nil
}

// lostRace names the winner where somebody else was faster.
func (l *Locks) lostRace(ctx context.Context, cluster types.NamespacedName, err error) error {
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		return err
	}
	lease, _, err := l.get(ctx, cluster)
	if err != nil {
		return fmt.Errorf("%w: somebody else changed it at the same moment: %w", ErrHeld, err)
	}
	return heldError(read(lease, l.duration()))
}

func heldError(r record) error {
	if r.holder == "" {
		return fmt.Errorf("%w: somebody else changed it at the same moment; try again", ErrHeld)
	}
	return fmt.Errorf("%w by %s for %q; unless it is renewed it expires at %s", ErrHeld,
		r.holder, r.operation, r.expires().UTC().Format(time.RFC3339))
}

func (l *Locks) get(ctx context.Context, cluster types.NamespacedName) (lease *coordinationv1.Lease, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.duration()/3)
	defer cancel()
	lease = &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: Name(cluster.Name)}
	switch err := l.Live.Get(ctx, key, lease); {
	case apierrors.IsNotFound(err):
		lease = &coordinationv1.Lease{}
		lease.Namespace, lease.Name = key.Namespace, key.Name
		return lease, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get Lease %s: %w", key, err)
	}
	return lease, true, nil
}

// write is a compare-and-swap: it fails with a Conflict, or AlreadyExists, where the
// Lease is not any more what was read.
func (l *Locks) write(ctx context.Context, lease *coordinationv1.Lease, exists bool) error {
	ctx, cancel := context.WithTimeout(ctx, l.duration()/3)
	defer cancel()
	key := client.ObjectKeyFromObject(lease)
	if !exists {
		if err := l.Client.Create(ctx, lease); err != nil {
			return fmt.Errorf("create Lease %s: %w", key, err)
		}
		return nil
	}
	if err := l.Client.Update(ctx, lease); err != nil {
		return fmt.Errorf("update Lease %s: %w", key, err)
	}
	return nil
}

func (l *Locks) duration() time.Duration {
	if l.Duration == 0 {
		return DefaultDuration
	}
	return l.Duration
}

// Name is the name of a cluster's Lease.
func Name(cluster string) string { return "quorate-" + cluster }
