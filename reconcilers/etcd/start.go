package etcd

import (
	"context"

	"github.com/quorate/quorate/api/v1alpha1"
)

// start says what this reconcile sets out to do. It is written with the first thing
// that is recorded, and not at all by a cycle that finds nothing to do.
func (c *cycle) start(context.Context) error {
	kind := v1alpha1.OperationReconcile
	switch {
	case !c.etcd.DeletionTimestamp.IsZero():
		kind = v1alpha1.OperationDelete
	case c.etcd.Status.ClusterID == "":
		kind = v1alpha1.OperationCreate
	}
	last := c.etcd.Status.LastOperation
	if last == nil {
		last = &v1alpha1.LastOperation{State: v1alpha1.StateProcessing, RunID: c.runID, LastUpdateTime: c.now()}
		c.etcd.Status.LastOperation = last
	}
	last.Type = kind
	return nil
}
