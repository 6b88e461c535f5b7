package talos

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"google.golang.org/grpc/codes"
)

// fresh is one control plane that was installed and is off.
func fresh(t *testing.T) *Node {
	t.Helper()
	c, err := New(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c.Node("cp-1")
}

func synced(t *testing.T, n *Node) bool {
	t.Helper()
	r, err := safe.StateGetByID[*timeresource.Status](within(t, 10*time.Second), admin(t, n).COSI, timeresource.StatusID)
	must(t, err)
	return r.TypedSpec().Synced
}

// TestBootstrapPreconditions: not before CRI is up and not before the clock is in sync, in
// this order; etcd waits meanwhile, and founds nothing that was refused.
func TestBootstrapPreconditions(t *testing.T) {
	n := fresh(t)
	cri, clock := n.Fault(WithoutCRI()), n.Fault(WithoutTime())
	must(t, n.PowerOn())
	answers(t, bootstrap(t, n), codes.FailedPrecondition, "bootstrap is not available yet")
	if got := n.Service("cri"); got != stateWaiting {
		t.Errorf("the service cri is %s", got)
	}
	cri()
	began := time.Now()
	answers(t, bootstrap(t, n), codes.FailedPrecondition, "time is not in sync yet")
	if took := time.Since(began); took < n.Timing().SyncWait {
		t.Errorf("it was refused after %s", took)
	}
	if etcd := n.Service("etcd"); etcd != stateWaiting || synced(t, n) {
		t.Errorf("etcd is %s, the clock in sync: %t", etcd, synced(t, n))
	}
	clock()
	until(t, "etcd to wait for a cluster", func() bool { return n.Service("etcd") == statePreparing })
	until(t, "the clock to be shown in sync", func() bool { return synced(t, n) })
	if hasData(t, n) {
		t.Error("a bootstrap that was refused has founded a cluster")
	}
	must(t, bootstrap(t, n))
	must(t, n.Voting(t.Context()))
}

// TestWithoutCRILater: an etcd that has begun goes on.
func TestWithoutCRILater(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-3")
	lift := n.Fault(WithoutCRI())
	until(t, "the service cri to be down", func() bool { return n.Service("cri") == stateWaiting })
	must(t, n.Voting(t.Context()))
	answers(t, bootstrap(t, n), codes.FailedPrecondition, "bootstrap is not available yet")
	lift()
	until(t, "the service cri to be up", func() bool { return n.Service("cri") == stateRunning })
	answers(t, bootstrap(t, n), codes.AlreadyExists, "etcd data directory is not empty")
}

// TestWithoutVar: a machine that has booted and not mounted /var takes no upload, and a
// look at its etcd data finds none, though it is there: that nothing was found is no sign of
// a wipe.
func TestWithoutVar(t *testing.T) {
	n := alone(t)
	lift := n.Fault(WithoutVar())
	must(t, n.Reboot(within(t, time.Minute)))
	answers(t, upload(t, n, []byte("x")), codes.FailedPrecondition, "etcd service is not ready for recovery yet")
	answers(t, bootstrap(t, n), codes.FailedPrecondition, "bootstrap is not available yet")
	_, err := listing(t, n, &machine.ListRequest{Root: "/var/lib/etcd/member"})
	answers(t, err, codes.Unknown, "lstat /var/lib/etcd/member: no such file or directory")
	if !hasData(t, n) {
		t.Error("the disk has lost the data")
	}
	lift()
	must(t, n.Voting(t.Context()))
}

// TestBootTakesTime: the API answers before /var is mounted, that is before CRI is up, and
// etcd comes last.
func TestBootTakesTime(t *testing.T) {
	n := fresh(t)
	n.SetTiming(func(timing *Timing) { timing.Mount, timing.CRI = 700*time.Millisecond, 700*time.Millisecond })
	began := time.Now()
	must(t, n.PowerOn())
	must(t, version(t, admin(t, n), 5*time.Second))
	if upload(t, n, []byte("x")) == nil && time.Since(began) < 700*time.Millisecond {
		t.Error("it took an upload at once")
	}
	until(t, "an upload to be taken", func() bool { return upload(t, n, []byte("x")) == nil })
	if took := time.Since(began); took < 700*time.Millisecond {
		t.Errorf("/var was there after %s", took)
	}
	until(t, "etcd to wait for a cluster", func() bool { return n.Service("etcd") == statePreparing })
	if took := time.Since(began); took < 1400*time.Millisecond {
		t.Errorf("etcd began after %s", took)
	}
}
