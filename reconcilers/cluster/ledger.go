package cluster

import (
	"context"
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// ledger confirms the removals that the member list proves, whoever asked for them.
func (c *cycle) ledger(ctx context.Context) error {
	if c.view == nil {
		return nil
	}
	var listed []v1alpha1.HexID
	for _, m := range c.view.Members {
		listed = append(listed, v1alpha1.HexID(hexOf(m.ID)))
	}
	before := guard.Ledger(c.cluster.Status.RemovedMembers)
	after := before.Confirm(c.cluster.Status.ClusterID, listed, c.Clock.Now())
	changed := false
	for i := range after {
		if after[i].State != before[i].State {
			changed = true
			c.normal(v1alpha1.EventMemberRemoved, fmt.Sprintf("Etcd member %s is no member any more.", nameOf(after[i])))
		}
	}
	if !changed {
		return nil
	}
	c.cluster.Status.RemovedMembers = after
	return c.persist(ctx)
}

// nameOf is what people know a removed member by.
func nameOf(e v1alpha1.RemovedMember) string {
	m := guard.Member{Name: e.Name}
	for _, u := range e.PeerURLs {
		m.PeerURLs = append(m.PeerURLs, string(u))
	}
	return m.Label()
}
