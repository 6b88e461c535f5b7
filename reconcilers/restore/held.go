package restore

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/epoch"
)

// over has nothing to do; what a finalizer would hold up is over too.
func (c *cycle) over(ctx context.Context) error { return c.dropFinalizer(ctx) }

// nothing leaves an operation as it is.
func (c *cycle) nothing(context.Context) error { return nil }

// stayHeld waits for a person.
func (c *cycle) stayHeld(ctx context.Context) error {
	text := epoch.HeldText("TalosOperation", c.op)
	c.set(v1alpha1.ConditionReady, false, v1alpha1.ReasonHeldByRestore, text)
	c.set(v1alpha1.ConditionStalled, true, v1alpha1.ReasonHeldByRestore, text)
	c.unset(v1alpha1.ConditionReconciling)
	return c.rest(ctx, 0)
}

// release has an operation begin anew that a person has let go on: what its status says
// is of another time.
func (c *cycle) release(ctx context.Context) error {
	c.op.Status.Phase, c.op.Status.FailureReason, c.op.Status.EtcdRestore = v1alpha1.PhasePending, "", nil
	c.unset(v1alpha1.ConditionStalled)
	c.normal(v1alpha1.ReasonReleased, "A person has let this operation go on.")
	if err := c.persist(ctx); err != nil {
		return err
	}
	c.again = soonest
	return c.unannotate(ctx)
}

// unannotate takes away what held it and what released it.
func (c *cycle) unannotate(ctx context.Context) error {
	changed := c.op.DeepCopy()
	delete(changed.Annotations, v1alpha1.AnnotationRelease)
	delete(changed.Annotations, v1alpha1.AnnotationHeldByRestore)
	c.again = soonest
	return c.patch(ctx, changed)
}

// patch writes all but the status.
func (c *cycle) patch(ctx context.Context, changed *v1alpha1.TalosOperation) error {
	if err := c.Client.Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the operation: %w", err)
	}
	status := c.op.Status
	c.op, c.read = changed.DeepCopy(), changed
	c.op.Status = status
	return nil
}

func (c *cycle) finalizer(ctx context.Context) error {
	changed := c.read.DeepCopy()
	if !controllerutil.AddFinalizer(changed, v1alpha1.FinalizerEtcdRestore) {
		return nil
	}
	return c.patch(ctx, changed)
}

func (c *cycle) dropFinalizer(ctx context.Context) error {
	changed := c.read.DeepCopy()
	if !controllerutil.RemoveFinalizer(changed, v1alpha1.FinalizerEtcdRestore) {
		return nil
	}
	return client.IgnoreNotFound(c.patch(ctx, changed))
}

func oneLine(err error) string { return conditions.OneLine(err) }
