package cluster

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// Gate says why a destructive step for a cluster has to wait for a restore, in whole
// sentences; empty if it need not.
type Gate interface {
	Wait(ctx context.Context, namespace, cluster string) (why string, err error)
}

// waits tells whether a removal has to wait for a restore: the ledger by which it is
// due may be one of before. It is asked before the lock and again under it.
func (c *cycle) waits(ctx context.Context, target guard.Member) (bool, error) {
	if c.Gate == nil {
		return false, nil
	}
	why, err := c.Gate.Wait(ctx, c.cluster.Namespace, c.cluster.Name)
	if err != nil || why == "" {
		return false, err
	}
	c.waiting = why
	c.hinder(target, strings.TrimSuffix(why, "."))
	c.soon(unwell)
	return true, nil
}

// restoring sets Reconciling while a restore is waited for: the work goes on by itself.
func (c *cycle) restoring() {
	if c.waiting == "" {
		meta.RemoveStatusCondition(&c.cluster.Status.Conditions, v1alpha1.ConditionReconciling)
		return
	}
	c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRestoreInProgress, c.waiting)
}
