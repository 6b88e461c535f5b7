package etcds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// homeless are pods that get no node, each with the scheduler's words, over all tests.
var (
	homelessMutex sync.Mutex
	homeless      = map[types.NamespacedName]string{}
)

func whyHomeless(pod *corev1.Pod) string {
	homelessMutex.Lock()
	defer homelessMutex.Unlock()
	return homeless[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
}

func setHomeless(key types.NamespacedName, why string) {
	homelessMutex.Lock()
	homeless[key] = why
	homelessMutex.Unlock()
	shared.Nodes.HoldScheduling(whyHomeless)
}

const noNode = "0/9 nodes are available: 9 Insufficient memory."

// unschedulable lets the pod of an ordinal find no node until it is housed again.
func (p *plant) unschedulable(ordinal int) (housed func()) {
	key := types.NamespacedName{Namespace: p.ns, Name: p.pod(ordinal)}
	setHomeless(key, noNode)
	housed = func() { setHomeless(key, "") }
	p.t.Cleanup(housed)
	return housed
}

// A scale-out that finds no nodes says what the scheduler says once the deadline is
// over, and is given up by going back to where it began.
//
//
func TestUnschedulableScaleOutIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3, func(e *v1alpha1.Etcd) { e.Spec.ProgressDeadlineSeconds = ptr.To(int32(30)) })
	p.put("three")
	p.unschedulable(3)
	p.unschedulable(4)
	p.scale(5)
	p.until("two members that wait for nodes", func(e *v1alpha1.Etcd) error { return waitsFor(e, noNode) })
	p.refused(3, "scale-in-blocked") // not before it is stalled
	p.until("Stalled with the scheduler's words", func(e *v1alpha1.Etcd) error {
		return conditionSays(e, v1alpha1.ConditionStalled, p.pod(3), noNode)
	})
	p.refused(4, "scale-in-blocked")
	p.scale(3)
	p.settled(3)
	p.until("nothing to be stalled any more", func(e *v1alpha1.Etcd) error {
		for _, c := range e.Status.Conditions {
			if c.Type == v1alpha1.ConditionStalled || c.Type == v1alpha1.ConditionReconciling {
				return errNotYet
			}
		}
		return nil
	})
	p.want(3)
	p.podsAre(3)
	p.kept()
}

func waitsFor(e *v1alpha1.Etcd, text string) error {
	if last := e.Status.LastOperation; last == nil || !strings.Contains(last.Description, text) {
		return errNotYet
	}
	return nil
}

// conditionSays wants a condition that is True and has all texts in its message.
func conditionSays(e *v1alpha1.Etcd, kind string, texts ...string) error {
	for _, c := range e.Status.Conditions {
		if c.Type != kind || c.Status != metav1.ConditionTrue {
			continue
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return fmt.Errorf("%w: no %q in %q", errNotYet, text, c.Message)
			}
		}
		return nil
	}
	return fmt.Errorf("%w: no %s", errNotYet, kind)
}

// refused wants a size to be refused at admission, by that rule.
func (p *plant) refused(replicas int, rule string) {
	p.t.Helper()
	if err := p.tryScale(replicas); err == nil || !strings.Contains(err.Error(), "("+rule+")") {
		p.t.Errorf("to %d replicas: %v, want a refusal by %s", replicas, err, rule)
	}
}

// podsAre waits for that many pods, none of them on its way out.
func (p *plant) podsAre(replicas int) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), fmt.Sprintf("%d pods", replicas), func(ctx context.Context) error {
		pods, err := p.pods(ctx)
		going := slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !pod.DeletionTimestamp.IsZero() })
		if err == nil && (len(pods) != replicas || going) {
			err = fmt.Errorf("%w: %d pods, one on its way out: %t", errNotYet, len(pods), going)
		}
		return err
	}))
}
