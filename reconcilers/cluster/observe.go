package cluster

import (
	"context"
	"errors"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// observe reads the secrets, the machines and etcd.
func (c *cycle) observe(ctx context.Context) error {
	bundle, err := c.Plane.Bundle(ctx, c.cluster)
	switch {
	case err == nil:
		c.bundle = bundle
	case errors.Is(err, talos.ErrBundle):
		c.viewErr = err
	default:
		return err
	}
	return c.look(ctx)
}

// look reads machines and etcd, and compares them. The cluster was read before: an
// intended removal whose member the list lacks has happened.
func (c *cycle) look(ctx context.Context) (err error) {
	if c.machines, err = c.Plane.Machines(ctx, c.cluster.Namespace, c.cluster.Name); err != nil {
		return err
	}
	c.audit = guard.Audit{}
	if c.bundle == nil {
		return nil
	}
	if c.view, c.viewErr = c.Plane.View(ctx, c.bundle, c.machines, c.cluster.Status.ClusterID); c.viewErr != nil {
		c.view = nil
		c.log.V(1).Info("no member list", "why", c.viewErr.Error())
		return nil
	}
	if c.cluster.Status.ClusterID == "" {
		c.cluster.Status.ClusterID = v1alpha1.HexID(hexOf(c.view.ClusterID))
	}
	c.audit = guard.AuditOf(c.view.Members, c.claimants())
	return nil
}

// claimants are the control planes that may explain a member.
func (c *cycle) claimants() (out []guard.Machine) {
	for i := range c.machines {
		if m := &c.machines[i]; controlplane.Approved(m) {
			out = append(out, controlplane.Describe(m))
		}
	}
	return out
}

// staying are the approved control planes that nobody deletes.
func (c *cycle) staying() (out []*v1alpha1.TalosMachine) {
	for i := range c.machines {
		if m := &c.machines[i]; controlplane.Approved(m) && m.DeletionTimestamp.IsZero() {
			out = append(out, m)
		}
	}
	return out
}
