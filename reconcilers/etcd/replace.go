package etcd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// DefaultLearnerGrace is how long a learner whose pod cannot run may hold up the
// others: etcd lets no second one join meanwhile.
const DefaultLearnerGrace = 2 * time.Minute

// replace looks after members in range that cannot come back with what they have. The
// agents ask by their exit reason; the controller alone removes and deletes.
func (c *cycle) replace(ctx context.Context) error {
	if c.view == nil || c.acted || c.replicas() == 0 || c.decommissioned() {
		return nil
	}
	for i := range min(c.replicas(), c.recorded().StatefulSet) {
		if err := c.replaceOne(ctx, i); err != nil || c.acted {
			return err
		}
	}
	return nil
}

// decommissioned tells whether somebody else takes this Etcd's members away for good:
// a cluster that it does not lead has members that are not its own.
func (c *cycle) decommissioned() bool {
	return len(c.strangers()) > 0 && c.names.settings().BootstrapWithExistingCluster == nil && len(c.etcd.Status.BootstrapWithExistingClusterMembers) == 0
}

func (c *cycle) replaceOne(ctx context.Context, ordinal int) error {
	pod, member, listed := c.memberAt(ordinal)
	if pod == nil && listed && member.Learner && c.unmadeWhy != "" && c.stillness() >= c.learnerGrace() {
		return c.removeLost(ctx, member, "its pod cannot be made, and it holds up the others")
	}
	if pod == nil || !pod.DeletionTimestamp.IsZero() || listed && member.Started && member.Healthy {
		return nil
	}
	reason := refusal(pod)
	switch {
	case is(reason, "ErrMemberPermanentlyRemoved"):
		return c.afresh(ctx, ordinal, pod, "its disk is that of a removed member")
	case is(reason, "ErrDiskLost"):
		return c.diskLost(ctx, ordinal, pod, member, listed)
	case is(reason, "ErrOtherCluster"), is(reason, "ErrCopiedVolume"), is(reason, "ErrMembershipCheckFailed"):
		c.fail(v1alpha1.ErrReplaceMember, fmt.Sprintf(
			"member %s refuses to start, and its volume may hold what nobody else has: %s. If it is not needed, delete PersistentVolumeClaim %s and the pod",
			pod.Name, reason, c.names.claim(dataVolume, ordinal)))
	case reason == "" && prepared(pod) && !listed:
		return c.startAnew(ctx, pod)
	case listed && member.Learner && c.cannotRun(pod):
		return c.removeLost(ctx, member, "its pod cannot run, and it holds up the others")
	}
	return nil
}

func (c *cycle) memberAt(ordinal int) (*corev1.Pod, guard.Member, bool) {
	m, listed := c.own(ordinal)
	return c.podOf(ordinal), m, listed
}

// diskLost removes a member whose log is gone; it joins afresh after that.
func (c *cycle) diskLost(ctx context.Context, ordinal int, pod *corev1.Pod, m guard.Member, listed bool) error {
	if !listed {
		return c.afresh(ctx, ordinal, pod, "its disk was lost")
	}
	if !concerns(lastWords(pod), m) {
		return nil
	}
	return c.removeLost(ctx, m, "its disk was lost")
}

// concerns tells whether a lost disk is this member's. Once the member that lost it is
// removed, the agent may join anew before the pod's status says so. Who names no member
// is a founder, and no learner.
func concerns(reason string, m guard.Member) bool {
	named := namedMembers(reason)
	if len(named) == 0 {
		return !m.Learner
	}
	return slices.Contains(named, hexOf(m.ID))
}

// startAnew deletes the pod of a member that is not in the list though its agent was
// done before that was read: it was removed by somebody. Its reason comes with the next
// pod.
func (c *cycle) startAnew(ctx context.Context, pod *corev1.Pod) error {
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	c.event(v1alpha1.EventMemberReplaced, fmt.Sprintf("Member %s was removed by somebody else; its pod is started anew.", pod.Name))
	c.acted = true
	c.soon(soonest)
	return c.deleteExactly(ctx, pod)
}

// afresh deletes volume and pod: the next pod joins as a new member.
func (c *cycle) afresh(ctx context.Context, ordinal int, pod *corev1.Pod, why string) error {
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	if still, err := c.stillRefuses(ctx, pod); err != nil || !still {
		c.soon(soonest)
		return err
	}
	c.acted = true
	c.soon(soonest)
	for i := range c.claims {
		for _, template := range c.claimTemplates() {
			if claim := &c.claims[i]; claim.Name == c.names.claim(template, ordinal) && claim.DeletionTimestamp.IsZero() {
				if err := c.deleteExactly(ctx, claim); err != nil {
					return err
				}
			}
		}
	}
	c.event(v1alpha1.EventMemberReplaced, fmt.Sprintf("Member %s gets a new volume: %s.", pod.Name, why))
	return c.deleteExactly(ctx, pod)
}

// stillRefuses reads the pod once more before its volume is deleted: the cache may not
// have heard that the agent has joined anew on it.
func (c *cycle) stillRefuses(ctx context.Context, pod *corev1.Pod) (bool, error) {
	fresh := &corev1.Pod{}
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(pod), fresh); err != nil {
		return false, ignoreMissing(err)
	}
	return fresh.UID == pod.UID && fresh.DeletionTimestamp.IsZero() && lastWords(fresh) == lastWords(pod), nil
}

// removeLost removes a member in range that cannot come back, if the quorum allows it.
func (c *cycle) removeLost(ctx context.Context, m guard.Member, why string) error {
	if verdict := guard.MayRemove(c.view.Members, m.ID); !verdict.Safe {
		c.withhold(m, verdict)
		return nil
	}
	c.log.Info("is to be replaced", "member", m.Label(), "id", hexOf(m.ID), "why", why)
	return c.removeNext(ctx, []guard.Member{m}, false)
}

// refusal is the reason that the pod's agent ended with, if it has not got further
// since, for people; the pod has it whole.
func refusal(pod *corev1.Pod) string { return withoutIDs(lastWords(pod)) }

func lastWords(pod *corev1.Pod) string {
	for _, s := range pod.Status.InitContainerStatuses {
		if s.Name != prepareContainer {
			continue
		}
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if t := state.Terminated; t != nil {
				if t.ExitCode == 0 {
					return ""
				}
				return strings.TrimSpace(t.Message)
			}
		}
	}
	return ""
}

func is(reason, name string) bool { return strings.HasPrefix(reason, name+":") }

// prepared tells whether the agent has let the member start.
func prepared(pod *corev1.Pod) bool {
	for _, s := range pod.Status.InitContainerStatuses {
		if s.Name == prepareContainer {
			return s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		}
	}
	return false
}

func (c *cycle) learnerGrace() time.Duration { return cmp.Or(c.LearnerGrace, DefaultLearnerGrace) }

// cannotRun tells whether nothing of the pod has ever run, for longer than the grace
// period.
func (c *cycle) cannotRun(pod *corev1.Pod) bool {
	if c.Clock.Since(pod.CreationTimestamp.Time) < c.learnerGrace() {
		return false
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil {
			return false
		}
	}
	return true
}
