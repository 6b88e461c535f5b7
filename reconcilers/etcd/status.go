package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// status says how the cluster is, from the live list alone. What decides removals is
// never read from here.
func (c *cycle) status(ctx context.Context) error {
	s := &c.etcd.Status
	s.ObservedGeneration = c.etcd.Generation
	s.Replicas = int32(c.recorded().StatefulSet) //nolint:gosec // at most 9
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: c.names.labels()})
	if c.view != nil {
		s.Members = membersOf(c.view.Members)
	} else if c.replicas() > 0 {
		for i := range s.Members {
			s.Members[i].Healthy, s.Members[i].Leader = false, false
		}
	}
	c.mounted(ctx)
	c.quorate()
	c.ready()
	c.Metrics.observe(c.etcd, c.view)
	return nil
}

// maxMembers is what the API allows.
const maxMembers = 20

func membersOf(live []guard.Member) []v1alpha1.EtcdMember {
	var out []v1alpha1.EtcdMember
	for _, m := range live {
		role := v1alpha1.RoleVoter
		if m.Learner {
			role = v1alpha1.RoleLearner
		}
		out = append(out, v1alpha1.EtcdMember{Name: m.Name, ID: hexOf(m.ID), Role: role, Started: m.Started, Leader: m.Leader, Healthy: m.Healthy})
	}
	slices.SortFunc(out, func(a, b v1alpha1.EtcdMember) int {
		return strings.Compare(a.Name+"/"+string(a.ID), b.Name+"/"+string(b.ID))
	})
	return out[:min(len(out), maxMembers)]
}

// quorate sets the condition Quorate, and tells of its change.
func (c *cycle) quorate() {
	before := findCondition(c.etcd, v1alpha1.ConditionQuorate)
	was, known := before != nil && before.Status == metav1.ConditionTrue, before != nil
	reason, message, is := v1alpha1.ReasonNoQuorum, "", false
	switch {
	case c.view != nil:
		count := guard.CountOf(c.view.Members)
		is, message = count.Quorate(), count.String()
		if is {
			reason = v1alpha1.ReasonQuorate
		}
	case c.recorded().StatefulSet == 0 && c.replicas() == 0:
		reason, message = v1alpha1.ReasonHibernated, "spec.replicas is 0: nothing runs"
	case c.viewErr != nil:
		message = oneLine(c.viewErr)
	default:
		message = "no member has started yet"
	}
	setCondition(c.etcd, v1alpha1.ConditionQuorate, is, reason, sentence(message), c.now())
	switch {
	case is && !was:
		c.event(v1alpha1.EventQuorate, sentence(message))
	case !is && was && known && reason == v1alpha1.ReasonNoQuorum:
		c.warn(v1alpha1.EventQuorumLost, sentence(message))
	}
}

// ready sets the condition Ready: True only if everything is as spec asks.
func (c *cycle) ready() {
	reason, message := c.notReady()
	if reason == "" {
		setCondition(c.etcd, v1alpha1.ConditionReady, true, v1alpha1.ReasonAsAsked, fmt.Sprintf("%d members are healthy voters.", c.replicas()), c.now())
		return
	}
	setCondition(c.etcd, v1alpha1.ConditionReady, false, reason, message, c.now())
}

// notReady is the first thing that is not as spec asks; none if all is.
func (c *cycle) notReady() (reason, message string) {
	n := c.replicas()
	if n == 0 {
		return v1alpha1.ReasonHibernated, "spec.replicas is 0: nothing runs, volumes and membership are kept."
	}
	if c.gone() {
		return v1alpha1.ReasonDecommissioned, "Every member of this Etcd was removed from its cluster, which lives on in other members. This Etcd rests; delete it when its volumes are not needed any more."
	}
	if len(c.failures) > 0 {
		return v1alpha1.ReasonBlocked, c.failures[0].text
	}
	if c.view == nil {
		return v1alpha1.ReasonNoQuorum, findCondition(c.etcd, v1alpha1.ConditionQuorate).Message
	}
	if ill := c.ill(); len(ill) > 0 {
		return v1alpha1.ReasonMemberUnhealthy, strings.Join(ill, "; ") + "."
	}
	if text := c.alarms(); text != "" {
		return v1alpha1.ReasonAlarmRaised, text
	}
	if left := c.beyond(n); len(left) > 0 {
		return v1alpha1.ReasonLeftoverMembers, fmt.Sprintf("%d own members beyond %d are still listed, %s the first.", len(left), n, left[0].Label())
	}
	if c.rolling {
		return v1alpha1.ReasonRollingOut, or(c.doing, "A changed template is rolled out.")
	}
	if op := c.etcd.Status.ScaleOperation; op != nil {
		return string(op.Type), c.operationText()
	}
	return "", ""
}

// ill are the members in range that are no healthy voters, each with why.
func (c *cycle) ill() (out []string) {
	for i := range c.replicas() {
		m, listed := c.own(i)
		name := c.names.pod(i)
		switch {
		case !listed && c.decommissioned():
			out = append(out, name+" was removed by somebody else, and the cluster has members that are not this Etcd's: it is left alone")
		case !listed:
			out = append(out, name+" is not a member"+c.podTrouble(i))
		case !m.Started:
			out = append(out, name+" has not started"+c.podTrouble(i))
		case !m.Healthy:
			out = append(out, name+" is ill: "+or(c.view.Complaints[m.ID], "it does not answer")+c.podTrouble(i))
		case m.Learner:
			out = append(out, name+" is still a learner")
		}
	}
	return out
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
