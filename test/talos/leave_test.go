package talos

import (
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
)

func leave(t *testing.T, n *Node, deadline time.Duration) error {
	t.Helper()
	return admin(t, n).EtcdLeaveCluster(within(t, deadline), &machine.EtcdLeaveClusterRequest{})
}

func hasData(t *testing.T, n *Node) bool {
	t.Helper()
	has, err := n.HasEtcdData()
	must(t, err)
	return has
}

// TestLeaveThenRebootRejoins: the member goes, etcd stops, its data are deleted; a
// reboot brings the node back into the cluster by itself, as a new member.
func TestLeaveThenRebootRejoins(t *testing.T) {
	n := shared.Node("cp-3")
	whole(t, shared)
	before := find(listed(t, shared.Node("cp-1")), "cp-3").Id
	must(t, leave(t, n, time.Minute))
	if got := names(listed(t, shared.Node("cp-1"))); got != "cp-1 cp-2" {
		t.Errorf("the members are %s", got)
	}
	if state := n.Service("etcd"); state != "Finished" || hasData(t, n) {
		t.Errorf("etcd is %s, data %v", state, hasData(t, n))
	}
	t.Run("a second leave waits for its own member ID", func(t *testing.T) {
		n.SetTiming(func(timing *Timing) { timing.LeaveWait = 200 * time.Millisecond })
		defer n.SetTiming(func(timing *Timing) { timing.LeaveWait = 3 * time.Minute })
		err := leave(t, n, 30*time.Second)
		code(t, err, codes.DeadlineExceeded)
		if !strings.Contains(err.Error(), "failed to leave cluster: failed to get local etcd member ID: ") {
			t.Errorf("the error is %v", err)
		}
	})
	must(t, n.Reboot(t.Context()))
	whole(t, shared)
	list := listed(t, shared.Node("cp-1"))
	if after := find(list, "cp-3"); names(list) != "cp-1 cp-2 cp-3" || after.Id == before || after.IsLearner {
		t.Errorf("the members are %v, cp-3 was %x", list, before)
	}
}

// TestLeaveCutShort: a deadline between the removal and the end of etcd leaves the
// data of a removed member, whose etcd is started and ends for ever. A Reset of
// EPHEMERAL lets the node join anew.
func TestLeaveCutShort(t *testing.T) {
	n := shared.Node("cp-2")
	whole(t, shared)
	lift := n.Fault(LateLeave(time.Hour))
	err := leave(t, n, 5*time.Second)
	lift()
	code(t, err, codes.DeadlineExceeded)
	if got := names(listed(t, shared.Node("cp-1"))); got != "cp-1 cp-3" {
		t.Errorf("the members are %s", got)
	}
	crashLoops(t, n)
	must(t, resetEphemeral(t, n, false))
	whole(t, shared)
}

// crashLoops waits until the etcd of a removed member has ended a few times.
func crashLoops(t *testing.T, n *Node) {
	t.Helper()
	before := strings.Count(n.EtcdLog(), "permanently removed")
	until(t, n.Name+" to have started twice more and found itself removed", func() bool {
		return strings.Count(n.EtcdLog(), "permanently removed") >= before+2
	})
	if !hasData(t, n) {
		t.Errorf("%s has no data", n.Name)
	}
	until(t, n.Name+" to show no member", func() bool {
		_, err := n.MemberID(t.Context())
		return err != nil
	})
}

// TestMayLeaveLater: which errors of etcd a leave waits out.
func TestMayLeaveLater(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, rpctypes.ErrUnhealthy: true, rpctypes.ErrStopped: true,
		rpctypes.ErrMemberNotFound: false, rpctypes.ErrMemberNotEnoughStarted: false,
	} {
		if got := mayLeaveLater(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := gone(rpctypes.ErrMemberNotFound); err != nil {
		t.Errorf("a member that is not found: %v", err)
	}
}
