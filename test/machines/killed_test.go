package machines

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
	"github.com/quorate/quorate/test/world"
)

// The manager is killed while the machine has been asked to leave and has not begun: it
// takes its own lock again at once, and the machine leaves.
//
// covers: B-8, B-14
func TestKilledBeforeTheLeave(t *testing.T) {
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	lift := f.talos.Node("cp-3").Fault(talos.Slow(leave, limit))
	f.count(1)
	f.delete("cp-3")
	f.until("cp-3 to be asked to leave", func(context.Context) error {
		if len(f.calls(leave)) == 0 {
			return errNotYet
		}
		return nil
	})
	before := f.killed()
	f.lists("cp-1", "cp-2", "cp-3")
	lift()
	f.resumed(before)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.asked("cp-3 EtcdLeaveCluster", "cp-3 EtcdLeaveCluster")
}

// The event about the keys cannot be written: the machine has left, and its finalizer
// stays. The manager is killed there: who follows sees the list, and removes nothing.
//
// covers: B-4, B-7, B-8, B-9
func TestKilledAfterTheLeave(t *testing.T) {
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	allow := f.silenced()
	f.count(1)
	f.delete("cp-3")
	f.lists("cp-1", "cp-2")
	f.until("the ledger to be confirmed", func(context.Context) error {
		if len(f.story.ledger(f.talos.Node("cp-3").PeerURL())) < 2 {
			return errNotYet
		}
		return nil
	})
	f.stays("cp-3 to be held", pause, func(ctx context.Context) error {
		return admin.Get(ctx, f.key("cp-3"), &v1alpha1.TalosMachine{})
	})
	killControllers(t)
	t.Cleanup(func() { startControllers(t) })
	allow()
	f.stays("cp-3 to be held", pause, func(ctx context.Context) error {
		return admin.Get(ctx, f.key("cp-3"), &v1alpha1.TalosMachine{})
	})
	f.succeeds()
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.asked("cp-3 EtcdLeaveCluster")
}

// silenced lets the API server refuse the event about a machine's keys, in this
// namespace, until allow is called.
func (f *fleet) silenced() (allow func()) {
	f.t.Helper()
	must(f.t, shared.Apply(f.t.Context(), fmt.Sprintf(refuseEvents, f.ns)))
	f.until("the events to be refused", func(ctx context.Context) error {
		err := admin.Create(ctx, &eventsv1.Event{
			ObjectMeta: f.meta("probe"), EventTime: metav1.NowMicro(), Type: "Warning", Action: "Test", ReportingController: "test", ReportingInstance: "test",
			Reason: v1alpha1.EventNodeStillHasClusterCredentials, Regarding: corev1.ObjectReference{Namespace: f.ns, Kind: "Pod", Name: "none"},
		}, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "not now") {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	})
	return func() {
		f.t.Helper()
		for _, o := range []client.Object{&admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.ValidatingAdmissionPolicy{}} {
			o.SetName(f.ns)
			must(f.t, admin.Delete(f.t.Context(), o))
		}
	}
}

const refuseEvents = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [events.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [events]}]
  validations: [{expression: "object.reason != 'NodeStillHasClusterCredentials'", message: not now}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`

// killed kills the controllers, and answers the lock that they held.
func (f *fleet) killed() *coordinationv1.Lease {
	f.t.Helper()
	killControllers(f.t)
	f.t.Cleanup(func() {
		if controllers == nil { // the test failed before it did so itself
			startControllers(f.t)
		}
	})
	lock := f.lock(f.t.Context())
	if ptr.Deref(lock.Spec.HolderIdentity, "") == "" {
		f.t.Fatalf("nobody holds the lock: %+v", lock.Spec)
	}
	return lock
}

func (f *fleet) lock(ctx context.Context) *coordinationv1.Lease {
	f.t.Helper()
	l := &coordinationv1.Lease{}
	must(f.t, admin.Get(ctx, f.key("quorate-"+f.name), l))
	return l
}

// succeeds starts the controllers after they were killed. The lease of who runs them is
// taken out of their way, which their successor waits for otherwise.
func (f *fleet) succeeds() {
	f.t.Helper()
	takeOver(f.t)
	startControllers(f.t)
}

func takeOver(t *testing.T) {
	t.Helper()
	of := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: world.Namespace, Name: "quorate-controllers"}}
	must(t, client.IgnoreNotFound(admin.Delete(t.Context(), of)))
}

// resumed wants the successor to take the cluster's lock again before it has run out.
func (f *fleet) resumed(before *coordinationv1.Lease) {
	f.t.Helper()
	ends := before.Spec.RenewTime.Add(time.Duration(*before.Spec.LeaseDurationSeconds) * time.Second)
	f.succeeds()
	began := time.Now()
	var now *coordinationv1.Lease
	f.until("the lock to be taken again", func(ctx context.Context) error {
		if now = f.lock(ctx); ptr.Deref(now.Spec.LeaseTransitions, 0) == ptr.Deref(before.Spec.LeaseTransitions, 0) {
			return fmt.Errorf("%w: %+v", errNotYet, now.Spec)
		}
		return nil
	})
	f.t.Logf("the lock was taken again after %s; it would have run out %s later", time.Since(began).Round(10*time.Millisecond), time.Until(ends).Round(time.Second))
	if time.Now().After(ends) {
		f.t.Errorf("the lock had run out at %s", ends)
	}
}
