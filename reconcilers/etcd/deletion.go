package etcd

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/quorate/quorate/api/v1alpha1"
)

// deletion ends an Etcd. One that has its cluster for itself goes at once. One that
// shares a cluster first takes its own members out of it, safely; where nobody answers
// any more there is nothing to protect, and it ends all the same.
var deletion = []step{
	{"held", (*cycle).held},
	{"observe", (*cycle).observe},
	{"start", (*cycle).start},
	{"look", (*cycle).look},
	{"leave", (*cycle).leave},
	{"status", (*cycle).status},
	{"finish", (*cycle).finish},
}

// held ends the cycle where our finalizer is gone: the rest is others' to do.
func (c *cycle) held(context.Context) error {
	if !controllerutil.ContainsFinalizer(c.etcd, v1alpha1.FinalizerEtcd) {
		return errOver
	}
	return nil
}

func (c *cycle) leave(ctx context.Context) error {
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	if c.view == nil {
		return c.leaveSilent(ctx)
	}
	if err := c.confirm(ctx); err != nil {
		return err
	}
	own := c.beyond(0)
	if len(c.strangers()) == 0 || len(own) == 0 {
		return c.over(ctx)
	}
	c.doing = fmt.Sprintf("%d members leave the shared cluster, one by one.", len(own))
	c.soon(busy)
	others := c.staying(own)
	if err := c.removeNext(ctx, own, true); err != nil || !c.acted || len(own) > 1 {
		return err
	}
	return c.left(ctx, others)
}

// left asks those who stay whether the last own member has left: none of its own
// answers after that.
func (c *cycle) left(ctx context.Context, others []string) error {
	view, err := c.listAt(ctx, others)
	if err != nil {
		c.log.Info("those who stay give no list yet", "why", err.Error())
		return nil
	}
	c.view = view
	if err := c.confirm(ctx); err != nil || len(c.beyond(0)) > 0 {
		return err
	}
	return c.over(ctx)
}

// leaveSilent ends an Etcd whose cluster gives no list: at once if nobody shares it,
// else after the progress deadline, with a warning.
func (c *cycle) leaveSilent(ctx context.Context) error {
	if !c.mayShare() || c.recorded().StatefulSet == 0 || c.gone() {
		return c.over(ctx)
	}
	waited := c.Clock.Since(c.etcd.DeletionTimestamp.Time)
	if waited < c.deadline() {
		c.doing = fmt.Sprintf("The shared cluster gives no member list, so members cannot leave it safely; they are left in it after %s.", c.deadline())
		c.soon(busy)
		return nil
	}
	c.warn(v1alpha1.EventMembersAbandoned, fmt.Sprintf("The shared cluster has given no member list for %s: this Etcd's members stay in its list. Remove them there; their volumes are kept here.", c.deadline()))
	return c.over(ctx)
}

// mayShare tells whether others may count on this Etcd's members.
func (c *cycle) mayShare() bool {
	if len(c.etcd.Status.BootstrapWithExistingClusterMembers) > 0 || c.joining() != nil && c.etcd.Status.ClusterID != "" {
		return true
	}
	for _, m := range c.etcd.Status.Members {
		if _, own := c.ordinalOf(m.Name); m.Name != "" && !own {
			return true
		}
	}
	return false
}

// over lets the Etcd go; what it owns goes with it, but for the volumes.
func (c *cycle) over(ctx context.Context) error {
	c.tell()
	if err := c.release(ctx); err != nil {
		return err
	}
	c.log.Info("the Etcd is gone; its volumes stay")
	return errOver
}
