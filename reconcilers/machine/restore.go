package machine

import (
	"context"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

// Gate says why a destructive step for a cluster has to wait for a restore, in whole
// sentences; empty if it need not.
type Gate interface {
	Wait(ctx context.Context, namespace, cluster string) (why string, err error)
}

// untouched ends the cycle before anything is done that cannot be undone, while a
// restore is on its way and as long as the machine is held by one. It is asked before
// the drain, under the lock before the member goes, and before the finalizer does.
func (c *cycle) untouched(ctx context.Context) error {
	if text := epoch.HeldText("TalosMachine", c.machine); text != "" {
		return c.stuck(ctx, v1alpha1.ReasonHeldByRestore, text)
	}
	if c.Gate == nil {
		return nil
	}
	why, err := c.Gate.Wait(ctx, c.machine.Namespace, c.machine.Spec.ClusterRef.Name)
	if err != nil || why == "" {
		return err
	}
	c.letGo(ctx)
	c.onward(v1alpha1.ReasonRestoreInProgress, why)
	return c.over(ctx, blocked)
}
