package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// gone tells whether all own members have left a cluster that lives on elsewhere.
func (c *cycle) gone() bool {
	if c.view == nil && c.saidGone() {
		return true
	}
	if c.view != nil {
		return c.decommissioned() && len(c.beyond(0)) == 0
	}
	return c.leftBehind()
}

func (c *cycle) saidGone() bool {
	said := findCondition(c.etcd, v1alpha1.ConditionReady)
	return said != nil && said.Reason == v1alpha1.ReasonDecommissioned
}

var errLeft = errors.New("every member of this Etcd has left its cluster")

// resting tells whether there is nobody to ask: all own members have left, and no pod
// serves anything.
func (c *cycle) resting() bool {
	return c.saidGone() && !slices.ContainsFunc(c.pods, func(p corev1.Pod) bool { return ready(&p) })
}

// leftBehind tells, where nobody answers any more, whether the last list had members
// that are not this Etcd's, and the agent of each own one in it says that it was
// removed since.
func (c *cycle) leftBehind() bool {
	own, shared := c.lastListed()
	return shared && !slices.ContainsFunc(own, func(ordinal int) bool {
		pod := c.podOf(ordinal)
		return pod == nil || !is(refusal(pod), "ErrMemberPermanentlyRemoved")
	})
}

// lastListed are the ordinals of own members in the last list, and whether it was that
// of a cluster that others have joined.
func (c *cycle) lastListed() (own []int, shared bool) {
	if c.names.settings().BootstrapWithExistingCluster != nil || len(c.etcd.Status.BootstrapWithExistingClusterMembers) > 0 {
		return nil, false
	}
	for _, m := range c.etcd.Status.Members {
		ordinal, mine := c.ordinalOf(m.Name)
		if mine {
			own = append(own, ordinal)
		}
		shared = shared || m.Name != "" && !mine
	}
	return own, shared
}

// Etcd ends by itself if it has ended that often, and has not run for long since.
const (
	endedOften = 3
	runsLong   = time.Minute
)

// inquire finds out what became of own members of a shared cluster that gives no list
// here any more. A member that is removed while its pod stays ends again and again;
// its agent says why, but only in a new pod. They serve nothing, so all are asked at
// once.
func (c *cycle) inquire(ctx context.Context) error {
	own, shared := c.lastListed()
	if !shared || c.replicas() == 0 || c.gone() {
		return nil
	}
	for _, ordinal := range own {
		pod := c.podOf(ordinal)
		if pod == nil || !pod.DeletionTimestamp.IsZero() || refusal(pod) != "" || !c.endsByItself(pod) {
			continue
		}
		if waits, err := c.untouched(ctx); err != nil || waits {
			return err
		}
		c.acted = true
		c.event(v1alpha1.EventPodRestarted, fmt.Sprintf("Pod %s is restarted: its etcd ends by itself, and its agent is to say why.", pod.Name))
		c.soon(busy)
		if err := c.deleteExactly(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// endsByItself tells whether etcd in the pod ends again and again. It may run just now.
func (c *cycle) endsByItself(pod *corev1.Pod) bool {
	return !ready(pod) && slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		running := s.State.Running
		return s.Name == etcdContainer && s.RestartCount >= endedOften && (running == nil || c.Clock.Since(running.StartedAt.Time) < runsLong)
	})
}
