package etcds

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// Etcd has no quorum in the middle of a scale-in; once it has one again, it goes on by
// itself.
//
//
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

// The API server is killed in the middle of a scale-in; what is left to do is done
// once it is back, and nothing else.
//
//
func TestAPIServerIsKilledHalfWayIn(t *testing.T) {
	p := newPlant(t, 5)
	p.put("five")
	before := p.podUIDs()
	maps.DeleteFunc(before, func(name, _ string) bool { return name == p.pod(3) || name == p.pod(4) })
	goOn := p.half(3)
	must(t, shared.KillAPIServer(t.Context()))
	goOn()
	p.settled(3)
	p.want(3)
	p.told(removed(p.pod(4)))
	p.told(removed(p.pod(3)))
	if after := p.podUIDs(); !maps.Equal(after, before) {
		t.Errorf("pods %v, want those that stay untouched: %v", after, before)
	}
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
	// Asked as the controller, whom no other policy refuses.
	access, err := shared.Access(world.Controller)
	must(p.t, err)
	controller, err := client.New(access.Config, client.Options{Scheme: admin.Scheme()})
	must(p.t, err)
	must(p.t, cluster.Until(p.t.Context(), "the policy to be enforced", func(ctx context.Context) error {
		err := controller.Status().Patch(ctx, p.get(), client.RawPatch(types.MergePatchType, twoRemovals), client.DryRunAll)
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
