package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// cycle is one reconcile of one cluster: what was read, and what is to be said.
type cycle struct {
	*Reconciler
	log     logr.Logger
	cluster *v1alpha1.TalosCluster
	read    *v1alpha1.TalosCluster // as it was read or last written
	notes   []note
	again   time.Duration

	bundle   *talos.Bundle
	machines []v1alpha1.TalosMachine
	// view is nil where there is no member list, and viewErr says why.
	view    *etcd.View
	viewErr error
	audit   guard.Audit
	// unknown are the unexplained members whose grace is over.
	unknown []guard.Member
	// hindered says what stands in the way of a removal, by the member's ID.
	hindered map[uint64]string
	// waiting says which restore is waited for.
	waiting string
}

func (c *cycle) take(cluster *v1alpha1.TalosCluster) {
	c.cluster, c.read = cluster, cluster.DeepCopy()
}

func (c *cycle) key() types.NamespacedName { return client.ObjectKeyFromObject(c.cluster) }

// soon asks for another look after a time; the shortest wish wins.
func (c *cycle) soon(d time.Duration) {
	if c.again == 0 || d < c.again {
		c.again = d
	}
}

func hexOf(id uint64) string { return strconv.FormatUint(id, 16) }

// persist writes the status if it differs, on condition that nobody has written the
// object meanwhile, and then tells what happened.
func (c *cycle) persist(ctx context.Context) error {
	if !equality.Semantic.DeepEqual(c.cluster.Status, c.read.Status) {
		changed := c.read.DeepCopy()
		changed.Status = *c.cluster.Status.DeepCopy()
		if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
		c.take(changed)
	}
	c.tell()
	return nil
}
