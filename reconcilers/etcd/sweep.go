package etcd

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// surplus are the volumes of ordinals beyond replicas, once none of their members is
// listed. A cluster that sleeps keeps all of its volumes, and source members have none
// here.
func (c *cycle) surplus() (out []*corev1.PersistentVolumeClaim) {
	op, n := c.etcd.Status.ScaleOperation, c.replicas()
	if op == nil || op.Type != v1alpha1.ScaleIn || n == 0 || c.view == nil || len(c.beyond(n)) > 0 {
		return nil
	}
	for i := range c.claims {
		if claim := &c.claims[i]; c.claimBeyond(claim, n) && claim.DeletionTimestamp.IsZero() {
			out = append(out, claim)
		}
	}
	return out
}

// sweep deletes them. It is repeated until nothing is left: a surplus pod that comes
// back in between gets a fresh volume.
func (c *cycle) sweep(ctx context.Context, surplus []*corev1.PersistentVolumeClaim) error {
	for _, claim := range surplus {
		if err := c.deleteExactly(ctx, claim); err != nil {
			return err
		}
		c.log.Info("delete the volume", "claim", claim.Name)
	}
	return nil
}

// claimBeyond tells whether a claim is that of an ordinal of at least n, by its exact
// name.
func (c *cycle) claimBeyond(claim *corev1.PersistentVolumeClaim, n int) bool {
	for _, template := range c.claimTemplates() {
		for i := n; i < maxOrdinals; i++ {
			if claim.Name == c.names.claim(template, i) {
				return true
			}
		}
	}
	return false
}

// claimTemplates are those of the StatefulSet as it is.
func (c *cycle) claimTemplates() []string {
	if c.set == nil {
		return []string{dataVolume}
	}
	var out []string
	for _, t := range c.set.Spec.VolumeClaimTemplates {
		out = append(out, t.Name)
	}
	return out
}

// remains tells whether pods or volumes of ordinals beyond replicas are still there.
func (c *cycle) remains() bool {
	n := c.replicas()
	for i := n; i < maxOrdinals; i++ {
		if c.podOf(i) != nil {
			return true
		}
	}
	for i := range c.claims {
		if c.claimBeyond(&c.claims[i], n) {
			return true
		}
	}
	return false
}

// deleteExactly deletes the very object that was seen, and none that has taken its
// name since.
func (c *cycle) deleteExactly(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	err := c.Client.Delete(ctx, o, &client.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err := ignoreMissing(err); err != nil {
		return fmt.Errorf("delete %s: %w", o.GetName(), err)
	}
	return nil
}
