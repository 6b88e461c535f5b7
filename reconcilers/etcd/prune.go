package etcd

import (
	"context"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// prune keeps the record of joined source members true: those that were removed go
// from it, and listed ones that are members come onto it. It keeps the ledger short.
func (c *cycle) prune(context.Context) error {
	c.pruneLedger()
	if c.view == nil {
		return nil
	}
	if b := c.names.settings().BootstrapWithExistingCluster; b != nil {
		c.etcd.Status.BootstrapWithExistingClusterMembers = joined(c.etcd.Status.BootstrapWithExistingClusterMembers, b.Members, c.view, c.places())
	}
	op := c.etcd.Status.ScaleOperation
	if op == nil || op.Type != v1alpha1.RemoveBootstrapMembers || c.acted {
		return nil
	}
	listed := listedOf(c.etcd)
	c.etcd.Status.BootstrapWithExistingClusterMembers = slices.DeleteFunc(c.etcd.Status.BootstrapWithExistingClusterMembers, func(m v1alpha1.BootstrapMember) bool {
		left := guard.BootstrapCandidates(c.view.Members, []guard.Source{sourceOf(m)}, nil, c.places())
		return !slices.Contains(listed, m.Name) && len(left) == 0
	})
	return nil
}

// pruneLedger drops confirmed entries of own members whose volume is gone.
func (c *cycle) pruneLedger() {
	ledger := guard.Ledger(c.etcd.Status.RemovedMembers)
	for _, e := range c.etcd.Status.RemovedMembers {
		if i, own := c.ordinalOf(e.Name); own && !c.hasClaim(i) && c.podOf(i) == nil {
			ledger = ledger.Prune(e.ID, e.ClusterID)
		}
	}
	c.etcd.Status.RemovedMembers = ledger
}

func (c *cycle) ordinalOf(label string) (int, bool) {
	for i := range maxOrdinals {
		if pod := c.names.pod(i); label == pod || label == c.names.peerURL(pod) {
			return i, true
		}
	}
	return 0, false
}

func (c *cycle) hasClaim(ordinal int) bool {
	for i := range c.claims {
		for _, template := range c.claimTemplates() {
			if c.claims[i].Name == c.names.claim(template, ordinal) {
				return true
			}
		}
	}
	return false
}
