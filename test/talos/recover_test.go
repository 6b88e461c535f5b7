package talos

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func upload(t *testing.T, n *Node, content []byte) error {
	t.Helper()
	_, err := admin(t, n).EtcdRecover(within(t, time.Minute), bytes.NewReader(content))
	return err
}

func recoverOn(t *testing.T, n *Node, skipHashCheck bool) error {
	t.Helper()
	return admin(t, n).Bootstrap(within(t, time.Minute), &machine.BootstrapRequest{RecoverEtcd: true, RecoverSkipHashCheck: skipHashCheck})
}

// uploaded is what is at /var/lib/etcd.snapshot; nil if nothing is.
func uploaded(t *testing.T, n *Node) []byte {
	t.Helper()
	content, err := os.ReadFile(n.DiskPath("EPHEMERAL", "lib", "etcd.snapshot"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return content
}

// lastEvent is the last that the service etcd has told.
func lastEvent(t *testing.T, n *Node) string {
	t.Helper()
	info, err := admin(t, n).ServiceInfo(within(t, 5*time.Second), "etcd")
	must(t, err)
	events := info[0].Service.Events.Events
	return events[len(events)-1].Msg
}

// TestUpload: what it takes, what it does to the file, and what it never looks at.
func TestUpload(t *testing.T) {
	n := shared.Node("cp-2")
	t.Cleanup(func() { _ = os.Remove(n.DiskPath("EPHEMERAL", "lib", "etcd.snapshot")) })
	_, err := as(t, n, role.Operator).EtcdRecover(within(t, 10*time.Second), strings.NewReader("x"))
	answers(t, err, codes.PermissionDenied, "not authorized")
	_, err = admin(t, shared.Node("worker-1")).EtcdRecover(within(t, 10*time.Second), strings.NewReader("x"))
	answers(t, err, codes.Unimplemented, "etcd recover is only available on control plane nodes")
	long := bytes.Repeat([]byte("not a snapshot "), 1000)
	must(t, upload(t, n, long))
	must(t, upload(t, n, []byte("short")))
	if got := string(uploaded(t, n)); got != "short" {
		t.Errorf("there is %q", got)
	}
	lift := n.Fault(CutStream("EtcdRecover", 2, status.Error(codes.Unavailable, "cut")))
	if err := upload(t, n, long); err == nil || len(uploaded(t, n)) != 0 {
		t.Errorf("a stream that broke: %v, and there are %d bytes", err, len(uploaded(t, n)))
	}
	lift()
	lift = n.Fault(CutStream("EtcdRecover", 2, nil))
	must(t, upload(t, n, bytes.Repeat([]byte("x"), 200_000)))
	lift()
	if got := len(uploaded(t, n)); got == 0 || got >= 200_000 {
		t.Errorf("a stream that ended early has left %d bytes", got)
	}
}

// TestUploadNeedsEphemeral: the one precondition.
func TestUploadNeedsEphemeral(t *testing.T) {
	c, err := New(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	must(t, n.PowerOn())
	must(t, os.RemoveAll(n.DiskPath("EPHEMERAL", "lib")))
	answers(t, upload(t, n, []byte("x")), codes.FailedPrecondition, "etcd service is not ready for recovery yet")
}

// TestRecovery: a snapshot of three becomes a cluster of one, with the revision that it
// had; the others join by themselves; what was written later is gone.
func TestRecovery(t *testing.T) {
	whole(t, shared)
	first := shared.Node("cp-1")
	ctx := within(t, 2*time.Minute)
	_, err := etcdOf(t, first).Put(ctx, "canary", "before")
	must(t, err)
	content, err := snapshot(t, first)
	must(t, err)
	before, err := etcdOf(t, first).Get(ctx, "canary", clientv3.WithSerializable())
	must(t, err)
	_, err = etcdOf(t, first).Put(ctx, "canary", "after")
	must(t, err)
	answers(t, recoverOn(t, first, false), codes.AlreadyExists, "etcd data directory is not empty")
	lost(t, shared.ControlPlanes()...)
	must(t, upload(t, first, content))
	must(t, recoverOn(t, first, false))
	must(t, first.Voting(t.Context()))
	if left := uploaded(t, first); left != nil {
		t.Errorf("the upload is still there: %d bytes", len(left))
	}
	whole(t, shared)
	if got := names(listed(t, first)); got != "cp-1 cp-2 cp-3" {
		t.Errorf("the members are %s", got)
	}
	after, err := etcdOf(t, shared.Node("cp-3")).Get(ctx, "canary")
	must(t, err)
	if len(after.Kvs) != 1 || string(after.Kvs[0].Value) != "before" || after.Header.Revision != before.Header.Revision {
		t.Errorf("there is %v, before the snapshot %v", after, before)
	}
	if after.Header.ClusterId == before.Header.ClusterId {
		t.Error("the cluster has its old ID")
	}
}

// TestBadRecovery: its OK says nothing, and what it leaves is not a cluster.
func TestBadRecovery(t *testing.T) {
	whole(t, shared)
	content, err := snapshot(t, shared.Node("cp-1"))
	must(t, err)
	c, err := New(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	must(t, n.PowerOn())
	t.Run("without an upload", func(t *testing.T) {
		must(t, recoverOn(t, n, false))
		until(t, "etcd to have failed", func() bool { return n.Service("etcd") == stateFailed })
		if got := lastEvent(t, n); !strings.HasPrefix(got, "error verifying snapshot: ") || hasData(t, n) {
			t.Errorf("its last event is %q, and there is data: %t", got, hasData(t, n))
		}
	})
	flipped := bytes.Clone(content)
	flipped[len(flipped)-1] ^= 1
	t.Run("a wrong hash leaves a database that is no cluster", func(t *testing.T) {
		must(t, upload(t, n, flipped))
		must(t, recoverOn(t, n, false))
		until(t, "etcd to have failed", func() bool { return n.Service("etcd") == stateFailed })
		if got := lastEvent(t, n); !strings.HasPrefix(got, "error recovering from the snapshot: ") {
			t.Errorf("its last event is %q", got)
		}
		if _, err := os.Stat(n.DiskPath("EPHEMERAL", "lib", "etcd", "member", "snap", "db")); err != nil {
			t.Error(err)
		}
		answers(t, recoverOn(t, n, true), codes.AlreadyExists, "etcd data directory is not empty")
	})
	t.Run("the hash need not be checked", func(t *testing.T) {
		lost(t, n)
		must(t, upload(t, n, flipped))
		must(t, recoverOn(t, n, true))
		must(t, n.Voting(t.Context()))
	})
	t.Run("a reboot loses the request", func(t *testing.T) { testLostRequest(t, n, content) })
	t.Run("a crash is the machine's", func(t *testing.T) { testCrashingSnapshot(t, n, content) })
}

func testLostRequest(t *testing.T, n *Node, content []byte) {
	lost(t, n)
	n.SetTiming(func(timing *Timing) { timing.Restore = time.Hour })
	defer n.SetTiming(func(timing *Timing) { timing.Restore = 0 })
	must(t, upload(t, n, content))
	must(t, recoverOn(t, n, false))
	must(t, n.Reboot(within(t, time.Minute)))
	until(t, "etcd to wait", func() bool { return n.Service("etcd") == statePreparing })
	if hasData(t, n) || !bytes.Equal(uploaded(t, n), content) {
		t.Errorf("there is data: %t, and %d bytes of an upload", hasData(t, n), len(uploaded(t, n)))
	}
}

// cutHere is where the etcd library crashes on a snapshot that ends there: behind two of
// its pages.
const cutHere = 8192

func testCrashingSnapshot(t *testing.T, n *Node, content []byte) {
	lost(t, n)
	must(t, upload(t, n, content[:cutHere]))
	before := n.BootID()
	must(t, recoverOn(t, n, true))
	rebooted(t, n, before)
	until(t, "etcd to wait", func() bool { return n.Service("etcd") == statePreparing })
	if got := len(uploaded(t, n)); got != cutHere {
		t.Errorf("%d bytes of the upload are left", got)
	}
}
