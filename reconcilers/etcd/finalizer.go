package etcd

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/quorate/quorate/api/v1alpha1"
)

// finalizer keeps the Etcd until its members have left safely.
func (c *cycle) finalizer(ctx context.Context) error {
	return c.setFinalizer(ctx, controllerutil.AddFinalizer, "add")
}

func (c *cycle) release(ctx context.Context) error {
	return c.setFinalizer(ctx, controllerutil.RemoveFinalizer, "remove")
}

func (c *cycle) setFinalizer(ctx context.Context, set func(client.Object, string) bool, what string) error {
	changed := c.read.DeepCopy()
	if !set(changed, v1alpha1.FinalizerEtcd) {
		return nil
	}
	patch := client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Patch(ctx, changed, patch); err != nil {
		return fmt.Errorf("%s the finalizer: %w", what, client.IgnoreNotFound(err))
	}
	c.written(changed)
	return nil
}

// written takes over what the API server answered, and keeps the status that the
// cycle is still working on.
func (c *cycle) written(answer *v1alpha1.Etcd) {
	c.read = answer.DeepCopy()
	status := c.etcd.Status
	answer.DeepCopyInto(c.etcd)
	c.etcd.Status = status
}
