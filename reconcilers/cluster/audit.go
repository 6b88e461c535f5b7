package cluster

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// sift takes the unexplained members whose grace is over, and tells of each once. A
// list that cannot be read says nothing of how long somebody has been on it.
func (c *cycle) sift(context.Context) error {
	if c.view == nil {
		return nil
	}
	seen, first := c.seen.of(c.cluster, c.audit.Unknown, c.Clock.Now())
	for _, m := range c.audit.Unknown {
		s := seen[m.ID]
		if first && c.toldBefore(m) {
			s.told, s.rejoined = true, true
		}
		if !s.told && c.Clock.Since(s.first) < c.grace() {
			continue
		}
		c.unknown = append(c.unknown, m)
		if !s.told {
			c.warn(v1alpha1.EventUnknownEtcdMember, fmt.Sprintf("No approved TalosMachine explains etcd member %s.", where(m)), &s.told)
		}
	}
	return nil
}

// toldBefore tells whether a process before this one told of the member, so that a
// restart tells nobody twice, and takes back no condition.
func (c *cycle) toldBefore(m guard.Member) bool {
	ready := meta.FindStatusCondition(c.read.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason == v1alpha1.ReasonUnknownMember &&
		slices.ContainsFunc(c.read.Status.Members, func(r v1alpha1.EtcdMember) bool { return string(r.ID) == hexOf(m.ID) })
}

// overdue are the unknown members that this process itself has seen for the whole
// grace: what was told before says too little of when it came.
func (c *cycle) overdue() []guard.Member {
	seen, _ := c.seen.of(c.cluster, c.audit.Unknown, c.Clock.Now())
	return slices.DeleteFunc(slices.Clone(c.audit.Unknown), func(m guard.Member) bool {
		return c.Clock.Since(seen[m.ID].first) < c.grace()
	})
}

// where is a member's name and place.
func where(m guard.Member) string {
	if m.Name == "" || len(m.PeerURLs) == 0 {
		return m.Label()
	}
	return m.Name + " at " + m.PeerURLs[0]
}
