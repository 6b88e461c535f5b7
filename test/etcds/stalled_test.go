package etcds

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
// covers: A-8 A-9 A-27
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

// podsAre compares the pods with the ordinals below replicas.
func (p *plant) podsAre(replicas int) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), fmt.Sprintf("%d pods", replicas), func(ctx context.Context) error {
		pods, err := p.pods(ctx)
		if err == nil && len(pods) != replicas {
			err = fmt.Errorf("%w: %d pods", errNotYet, len(pods))
		}
		return err
	}))
}

// A learner whose pod is lost would let nobody else join, since etcd takes one learner
// at a time: it is removed, the next one joins, and it joins again when it has a node.
func TestLostLearnerMakesWay(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	housed := p.unschedulable(3)
	fifth := types.NamespacedName{Namespace: p.ns, Name: p.pod(4)}
	hold(fifth, true)
	t.Cleanup(func() { hold(fifth, false) })
	p.scale(5)
	p.podsAre(5)
	// Its agent had it added before its pod was lost.
	added, err := p.client().MemberAddAsLearner(t.Context(), []string{p.peerURL(3)})
	must(t, err)
	hold(fifth, false)
	p.until("member 4 to be a voter, and 3 none", func(*v1alpha1.Etcd) error {
		_, lost := p.find(added.Member.ID)
		m, joined := p.at(4)
		if lost || !joined || m.Learner || !m.Started {
			return errNotYet
		}
		return nil
	})
	housed()
	p.settled(5)
	p.want(5)
	p.kept()
	if _, back := p.find(added.Member.ID); back {
		t.Errorf("the lost learner %x is back", added.Member.ID)
	}
}

func (p *plant) peerURL(ordinal int) string {
	return fmt.Sprintf("http://%s.%s-peer.%s.svc:2380", p.pod(ordinal), p.name, p.ns)
}

// Etcd has no quorum in the middle of a scale-in; once it has one again, it goes on by
// itself.
//
// covers: A-4 A-5 A-17
func TestQuorumLostHalfWayIn(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 5)
	p.put("five")
	goOn := p.half(3)
	for i := range 2 {
		must(t, shared.Nodes.Halt(p.ns, p.pod(i), "etcd"))
		t.Cleanup(func() { _ = shared.Nodes.Resume(p.ns, p.pod(i), "etcd") }) // it may have gone on, or be another one
	}
	goOn()
	p.until("the loss to be told", func(e *v1alpha1.Etcd) error {
		for _, l := range e.Status.LastErrors {
			if l.Code == v1alpha1.ErrListMembers && e.Status.LastOperation.State == v1alpha1.StateError && e.Status.ScaleOperation != nil {
				return nil
			}
		}
		return errNotYet
	})
	for i := range 2 {
		must(t, shared.Nodes.Resume(p.ns, p.pod(i), "etcd"))
	}
	p.settled(3)
	p.want(3)
	p.kept()
}

// half begins a scale-in and holds it up after its first removal: the API server
// takes no record of a second one until goOn.
func (p *plant) half(replicas int) (goOn func()) {
	p.t.Helper()
	before := len(p.view().Members)
	goOn = p.refuseSecondRecord()
	p.scale(replicas)
	p.until("one member to be gone", func(e *v1alpha1.Etcd) error {
		if n := len(p.view().Members); n != before-1 || e.Status.ScaleOperation == nil {
			return fmt.Errorf("%w: %d members", errNotYet, n)
		}
		return nil
	})
	return goOn
}

// refuseSecondRecord lets the API server refuse a status with two removals in it.
func (p *plant) refuseSecondRecord() (lift func()) {
	p.t.Helper()
	name := "one-removal-in-" + p.ns
	fail, deny := admissionregistrationv1.Fail, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"quorate.dev"}, APIVersions: []string{"v1alpha1"}, Resources: []string{"etcds/status"}},
				},
			}}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "here", Expression: fmt.Sprintf("request.namespace == '%s'", p.ns)}},
			Validations:     []admissionregistrationv1.Validation{{Expression: "!has(object.status.removedMembers) || object.status.removedMembers.size() < 2"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: deny},
	}
	for _, o := range []client.Object{policy, binding} {
		must(p.t, admin.Create(p.t.Context(), o))
		p.t.Cleanup(func() { _ = admin.Delete(context.Background(), o) }) // lifted already, or the world ends
	}
	must(p.t, cluster.Until(p.t.Context(), "the policy to be enforced", func(ctx context.Context) error {
		err := admin.Status().Patch(ctx, p.get(), client.RawPatch(types.MergePatchType, twoRemovals), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), name) {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	}))
	return func() { must(p.t, admin.Delete(p.t.Context(), binding)) }
}

var twoRemovals = []byte(`{"status":{"removedMembers":[
	{"id":"a","name":"a","clusterID":"a","state":"intended","at":"2026-01-01T00:00:00Z"},
	{"id":"b","name":"b","clusterID":"a","state":"intended","at":"2026-01-01T00:00:00Z"}]}}`)
