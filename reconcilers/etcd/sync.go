package etcd

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/guard"
)

// sync makes the objects what they are to be. A removal that is held up holds up
// nothing here but the size: a change of resources or certificates may be what heals.
func (c *cycle) sync(ctx context.Context) error {
	if c.sourceUnknown() {
		return nil
	}
	objects := []struct{ wanted, current client.Object }{
		{c.peers(), &corev1.Service{}},
		{c.clients(), &corev1.Service{}},
		{c.budget(), &policyv1.PodDisruptionBudget{}},
	}
	if p := c.etcd.Spec.Pod; p == nil || p.ServiceAccountName == "" {
		objects = append(objects, struct{ wanted, current client.Object }{c.account(), &corev1.ServiceAccount{}})
	}
	for _, o := range objects {
		_, err := c.apply(ctx, o.wanted, o.current)
		if err := c.blockedBy(err); err != nil {
			return err
		}
	}
	_, err := c.syncConfig(ctx)
	if err != nil {
		return c.blockedBy(err)
	}
	return c.blockedBy(c.syncSet(ctx))
}

// syncSet sets the size that is due, and deletes the volumes of ordinals beyond it in
// the same step, before it is lowered.
func (c *cycle) syncSet(ctx context.Context) error {
	if c.set != nil && !c.set.DeletionTimestamp.IsZero() {
		return nil
	}
	if before := c.recorded().StatefulSet; c.replicas() > 0 && guard.TargetSize(c.recorded(), c.progress()) < before {
		c.lookAgain(ctx)
	}
	size, surplus, err := c.due(ctx)
	if err != nil {
		return err
	}
	if err := c.sweep(ctx, surplus); err != nil {
		return err
	}
	wanted, err := c.statefulSet(size)
	if err != nil {
		return err
	}
	if c.set != nil && !equality.Semantic.DeepDerivative(wanted.Spec.VolumeClaimTemplates[0].Spec, c.set.Spec.VolumeClaimTemplates[0].Spec) {
		return c.renew(ctx)
	}
	if before := c.recorded().StatefulSet; c.set != nil && before != size {
		c.log.Info("resize the StatefulSet", "from", before, "to", size)
	}
	changed, err := c.apply(ctx, wanted, &appsv1.StatefulSet{})
	if changed {
		c.soon(soonest)
	}
	if err == nil && (changed || c.set == nil) {
		c.set, err = c.liveSet(ctx) // what it says of its pods is old now
	}
	return err
}

// due is the size to set, and the volumes to delete before that. Nothing is lowered or
// deleted while a restore is waited for.
func (c *cycle) due(ctx context.Context) (size int, surplus []*corev1.PersistentVolumeClaim, err error) {
	size, surplus = guard.TargetSize(c.recorded(), c.progress()), c.surplus()
	before := c.recorded().StatefulSet
	if size >= before && len(surplus) == 0 {
		return size, nil, nil
	}
	waits, err := c.untouched(ctx)
	if err != nil || !waits {
		return size, surplus, err
	}
	return max(size, before), nil, nil
}

// lookAgain lists once more just before pods and volumes go. A surplus pod whose agent
// still had the old configuration may have joined since the first look; before it could
// vote, etcd would have to start and catch up, which takes longer than what is left.
func (c *cycle) lookAgain(ctx context.Context) {
	if c.view, c.viewErr = c.list(ctx); c.viewErr != nil {
		c.unlisted()
	}
}

// renew makes room for a StatefulSet with other volumes: that part of one cannot be
// changed. Pods and volumes stay, and the new one takes them over.
func (c *cycle) renew(ctx context.Context) error {
	if c.etcd.Status.ScaleOperation != nil {
		return nil // its size still counts
	}
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	uid, orphan := c.set.UID, metav1.DeletePropagationOrphan
	err := c.Client.Delete(ctx, c.set, &client.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &orphan})
	if err := ignoreMissing(err); err != nil {
		return fmt.Errorf("delete the StatefulSet and keep its pods, for another volume: %w", err)
	}
	c.soon(soonest)
	return nil
}
