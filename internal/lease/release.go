package lease

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Release gives the lock back. It does nothing to a lock that is lost; one that could
// not be given back expires by itself.
func (h *Held) Release(ctx context.Context) error {
	if err := h.release(ctx); err != nil {
		return fmt.Errorf("release the lock of cluster %s for %q: %w", h.cluster, h.is.operation, err)
	}
	return nil
}

func (h *Held) release(ctx context.Context) error {
	lease, err := h.own(ctx)
	switch {
	case errors.Is(err, ErrLost):
		return nil
	case err != nil:
		return err
	}
	vacate(lease)
	err = h.locks.write(ctx, lease, true)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // lost between the read and the write
	}
	return err
}
