package machines

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// The manager is killed after the machine has left and before its finalizer is cleared:
// who follows sees it in the list, and removes nothing.
//
// covers: B-4, B-7, B-8, B-14
func TestKilledAfterTheLeave(t *testing.T) {
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	lift := f.talos.Node("cp-3").Fault(talos.LateLeave(limit))
	f.count(1)
	f.delete("cp-3")
	f.lists("cp-1", "cp-2")
	before := f.killed()
	lift()
	f.resumed(before)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.asked("cp-3 EtcdLeaveCluster")
}

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

// resumed starts the controllers, and wants them to take their lock again before it
// has run out. The other lease, of who runs the controllers, is taken out of their way.
func (f *fleet) resumed(before *coordinationv1.Lease) {
	f.t.Helper()
	ends := before.Spec.RenewTime.Add(time.Duration(*before.Spec.LeaseDurationSeconds) * time.Second)
	of := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: world.Namespace, Name: "quorate-controllers"}}
	must(f.t, client.IgnoreNotFound(admin.Delete(f.t.Context(), of)))
	startControllers(f.t)
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
