package etcd

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// outdated is a pod of an older template.
type outdated struct {
	pod    *corev1.Pod
	member guard.Member
	able   bool // its member takes part in the quorum
}

// roll restarts the pods of an older template one at a time: first those whose member
// takes no part in the quorum, which may heal by it, then the others while the rest
// has a quorum without them, the leader last. A pod that does not become ready with
// the new template ends the rollout there.
func (c *cycle) roll(ctx context.Context) error {
	if c.acted || c.set == nil || c.recorded().StatefulSet == 0 {
		return nil
	}
	if c.set.Status.ObservedGeneration != c.set.Generation {
		if c.etcd.Status.ScaleOperation == nil {
			c.rolling, c.doing = true, "The StatefulSet was changed; which pods are of an older template is not known yet."
		}
		return nil
	}
	old, waits := c.outdated()
	if len(old) == 0 {
		return nil
	}
	c.rolling = true
	if waits, err := c.untouched(ctx); err != nil || waits {
		return err
	}
	if c.view == nil {
		return c.rollBlind(ctx, old)
	}
	for _, o := range old {
		if !o.able {
			return c.restart(ctx, o.pod)
		}
	}
	if waits != "" {
		c.doing = "A changed template is rolled out; " + waits + " is waited for."
		c.soon(busy)
		return nil
	}
	return c.rollNext(ctx, old)
}

// rollNext restarts a pod whose member takes part in the quorum, the leader last.
func (c *cycle) rollNext(ctx context.Context, old []outdated) error {
	next := old[0]
	for _, o := range old {
		if !o.member.Leader {
			next = o
			break
		}
	}
	if safe, why := guard.MayRestart(c.view.Members, next.member.ID); !safe {
		c.doing = fmt.Sprintf("Pod %s is not restarted for a changed template yet: %s.", next.pod.Name, why)
		c.soon(busy)
		return nil
	}
	if next.member.Leader && c.yield(ctx, next.member) {
		return nil
	}
	return c.restart(ctx, next.pod)
}

// blindPause is how long a pod with the new template may take to become ready before
// the next one is restarted without a member list.
const blindPause = time.Minute

// rollBlind restarts pods while no list can be had: only those that serve nothing, so
// that the change can heal what it is meant to heal, and not all of them at once.
func (c *cycle) rollBlind(ctx context.Context, old []outdated) error {
	for i := range c.recorded().StatefulSet {
		pod := c.podOf(i)
		if pod == nil || !pod.DeletionTimestamp.IsZero() || !ready(pod) && c.Clock.Since(pod.CreationTimestamp.Time) < blindPause {
			c.soon(busy)
			return nil
		}
	}
	for _, o := range old {
		if !ready(o.pod) {
			return c.restart(ctx, o.pod)
		}
	}
	return nil
}

// outdated are the pods of an older template, and the pod that is not ready though it
// is of the present one, or is being replaced.
func (c *cycle) outdated() (old []outdated, waits string) {
	for i := range c.recorded().StatefulSet {
		pod, m, listed := c.memberAt(i)
		switch {
		case pod == nil || !pod.DeletionTimestamp.IsZero():
			waits = c.names.pod(i)
		case pod.Labels[appsv1.ControllerRevisionHashLabelKey] != c.set.Status.UpdateRevision:
			old = append(old, outdated{pod, m, listed && !m.Learner && m.Started && m.Healthy})
		case !ready(pod):
			waits = pod.Name
		}
	}
	return old, waits
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// yield moves leadership off a member before its restart, and tells whether the pod
// has to wait for that.
func (c *cycle) yield(ctx context.Context, leader guard.Member) bool {
	to, ok := guard.Successor(c.view.Members, []guard.Member{leader})
	if !ok {
		return false
	}
	c.handOver(ctx, leader, to)
	return true
}

func (c *cycle) restart(ctx context.Context, pod *corev1.Pod) error {
	c.acted = true
	c.event(v1alpha1.EventPodRestarted, fmt.Sprintf("Pod %s is restarted for a changed template.", pod.Name))
	c.soon(busy)
	return c.deleteExactly(ctx, pod)
}
