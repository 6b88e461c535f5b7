package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// status says how the cluster is, from the live list alone. What decides removals is
// never read from here.
func (c *cycle) status(ctx context.Context) error {
	s := &c.cluster.Status
	s.ObservedGeneration = c.cluster.Generation
	c.report()
	if err := c.locked(ctx); err != nil {
		return err
	}
	c.quorate()
	c.ready()
	c.Metrics.observe(c.cluster, c.view, len(c.unknown))
	return c.persist(ctx)
}

// report is status.members. Of a cluster that was not asked the last report stays, with
// Quorate Unknown beside it: that a Secret is gone makes nobody ill.
func (c *cycle) report() {
	s := &c.cluster.Status
	if c.view != nil {
		s.Members = membersOf(c.view.Members)
		return
	}
	if is, _, _ := quorum(false, nil, c.viewErr); is == metav1.ConditionUnknown {
		return
	}
	for i := range s.Members {
		s.Members[i].Healthy, s.Members[i].Leader = false, false
	}
}

// maxMembers is what the API allows.
const maxMembers = 16

func membersOf(live []guard.Member) []v1alpha1.EtcdMember {
	var out []v1alpha1.EtcdMember
	for _, m := range live {
		role := v1alpha1.RoleVoter
		if m.Learner {
			role = v1alpha1.RoleLearner
		}
		out = append(out, v1alpha1.EtcdMember{Name: m.Name, ID: v1alpha1.HexID(hexOf(m.ID)), Role: role, Started: m.Started, Leader: m.Leader, Healthy: m.Healthy})
	}
	slices.SortFunc(out, func(a, b v1alpha1.EtcdMember) int {
		return strings.Compare(a.Name+"/"+string(a.ID), b.Name+"/"+string(b.ID))
	})
	return out[:min(len(out), maxMembers)]
}

// quorate sets the condition Quorate, and tells of its change.
func (c *cycle) quorate() {
	before := c.condition(v1alpha1.ConditionQuorate)
	was := metav1.ConditionUnknown
	if before != nil {
		was = before.Status
	}
	is, reason, message := quorum(c.view != nil, c.members(), c.viewErr)
	c.set(v1alpha1.ConditionQuorate, is, reason, message)
	switch {
	case is == metav1.ConditionTrue && was != is:
		c.normal(v1alpha1.EventQuorate, message)
	case is == metav1.ConditionFalse && was == metav1.ConditionTrue:
		c.warn(v1alpha1.EventQuorumLost, message, nil)
	}
}

// quorum is the condition Quorate. It is Unknown where the right cluster was not asked.
func quorum(seen bool, members []guard.Member, err error) (is metav1.ConditionStatus, reason, message string) {
	if seen {
		n := guard.CountOf(members)
		if n.Quorate() {
			return metav1.ConditionTrue, v1alpha1.ReasonQuorate, n.String() + "."
		}
		return metav1.ConditionFalse, v1alpha1.ReasonNoQuorum, n.String() + "."
	}
	text := conditions.OneLine(err) + "."
	switch {
	case errors.Is(err, talos.ErrBundle):
		return metav1.ConditionUnknown, v1alpha1.ReasonBundleUnusable, text
	case errors.Is(err, controlplane.ErrOtherCluster):
		return metav1.ConditionUnknown, v1alpha1.ReasonOtherCluster, text
	case errors.Is(err, controlplane.ErrNoControlPlane):
		return metav1.ConditionUnknown, v1alpha1.ReasonCountDiffers, text
	}
	return metav1.ConditionFalse, v1alpha1.ReasonNoQuorum, text
}

func (c *cycle) members() []guard.Member {
	if c.view == nil {
		return nil
	}
	return c.view.Members
}

// ready sets the condition Ready.
func (c *cycle) ready() {
	is, reason, message := verdict(c.facts())
	status := metav1.ConditionTrue
	c.soon(usual)
	if !is {
		status = metav1.ConditionFalse
		c.soon(unwell)
	}
	if len(c.audit.Unknown) > 0 {
		c.soon(unwell)
	}
	c.set(v1alpha1.ConditionReady, status, reason, message)
	c.restoring()
}

func (c *cycle) facts() facts {
	stay := c.staying()
	f := facts{err: c.viewErr, members: c.members(), approved: len(stay), count: int(c.cluster.Spec.ControlPlane.Count)}
	if c.view != nil {
		f.complaints = c.view.Complaints
	}
	for _, m := range stay {
		if slices.ContainsFunc(c.audit.Without, func(w guard.Machine) bool { return w.Name == m.Name }) {
			f.without = append(f.without, m.Name)
		}
	}
	for _, m := range c.unknown {
		f.unknown = append(f.unknown, stranger{m, len(c.known([]guard.Member{m})) > 0, c.hindered[m.ID]})
	}
	return f
}
