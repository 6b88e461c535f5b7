package cluster

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/lease"
)

// locked records who holds the cluster's lock, for people alone.
func (c *cycle) locked(ctx context.Context) error {
	l := &coordinationv1.Lease{}
	err := c.Live.Get(ctx, types.NamespacedName{Namespace: c.cluster.Namespace, Name: lease.Name(c.cluster.Name)}, l)
	switch {
	case apierrors.IsNotFound(err):
		c.cluster.Status.Lock = nil
	case err != nil:
		return fmt.Errorf("read the lock: %w", err)
	default:
		c.cluster.Status.Lock = lockOf(l, c.Clock.Now())
	}
	return nil
}

// maxLock is what the API allows for each text, in bytes.
const maxLock = 316

// lockOf is the lock as a Lease has it; nil while nobody holds it.
func lockOf(l *coordinationv1.Lease, now time.Time) *v1alpha1.ClusterLock {
	holder, seconds := ptr.Deref(l.Spec.HolderIdentity, ""), ptr.Deref(l.Spec.LeaseDurationSeconds, 0)
	if holder == "" || l.Spec.AcquireTime == nil || l.Spec.RenewTime == nil ||
		!now.Before(l.Spec.RenewTime.Add(time.Duration(seconds)*time.Second)) {
		return nil
	}
	return &v1alpha1.ClusterLock{
		Holder: conditions.Cut(holder, maxLock), Operation: conditions.Cut(l.Annotations[lease.OperationAnnotation], maxLock),
		AcquiredAt: metav1.NewTime(l.Spec.AcquireTime.Truncate(time.Second)),
	}
}
