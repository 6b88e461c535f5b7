package restore

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// refuse keeps an operation that is deleted while its cluster has no etcd.
func (c *cycle) refuse(ctx context.Context) error {
	c.mirror()
	step := c.marker.Step
	c.warnOnce(v1alpha1.ReasonDeletionWaits, fmt.Sprintf("The operation is deleted while it is %s: the cluster has no etcd until it ends, so it goes on, and is gone after that.", step))
	return c.followJob(ctx)
}

// warnOnce tells an event unless the status says it already.
func (c *cycle) warnOnce(reason, text string) {
	before := meta.FindStatusCondition(c.op.Status.Conditions, v1alpha1.ConditionDeletion)
	if before == nil || before.Reason != reason {
		c.warn(reason, text)
	}
	c.set(v1alpha1.ConditionDeletion, false, reason, text)
}

// forget removes the copy and the marker before the operation, so that it never comes
// back.
func (c *cycle) forget(ctx context.Context) error {
	if err := c.Jobs.End(ctx, c.clusterKey()); err != nil {
		return err
	}
	if err := c.adopt(ctx); errors.Is(err, errOver) {
		c.warn(v1alpha1.ReasonRestoreGivenUp, "The restore is given up before anybody could say which etcd was recovered: the cluster's status names the one of before.")
	} else if err != nil {
		return err
	}
	// What the rewind brought back waits for a person, whether the restore ends well or not.
	if err := c.holdReturned(ctx); err != nil {
		return err
	}
	if err := c.removeMarker(ctx); err != nil {
		return err
	}
	c.normal(v1alpha1.ReasonRestoreGivenUp, fmt.Sprintf("The restore was deleted while it was %s; its marker and its copy of the snapshot are removed.", c.marker.Step))
	return c.drop(ctx)
}

// removeMarker removes the copy and the marker, the marker last: while there is one,
// nothing else begins.
func (c *cycle) removeMarker(ctx context.Context) error {
	// Whoever has taken the restore over meanwhile needs the copy.
	if err := c.saveMarker(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := c.store.Delete(ctx, c.marker.Pinned.Object()); err != nil {
		return fmt.Errorf("remove the copy of the snapshot: %w", err)
	}
	return (restore.Markers{Store: c.store}).Delete(ctx, c.version)
}

// drop lets the operation go.
func (c *cycle) drop(ctx context.Context) error {
	if c.markerState() == markerNone { // the job of another restore is its own
		if err := c.Jobs.End(ctx, c.clusterKey()); err != nil {
			return err
		}
	}
	c.tell()
	return c.dropFinalizer(ctx)
}
