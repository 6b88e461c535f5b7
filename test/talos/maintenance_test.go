package talos

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestStatusIsLocal: each node tells of its own member.
func TestStatusIsLocal(t *testing.T) {
	whole(t, shared)
	for _, n := range shared.ControlPlanes() {
		answer, err := admin(t, n).EtcdStatus(within(t, 10*time.Second))
		must(t, err)
		id, err := n.MemberID(t.Context())
		must(t, err)
		s := answer.Messages[0].MemberStatus
		if s.MemberId != id || s.Leader == 0 || s.DbSize == 0 || s.IsLearner || s.ProtocolVersion == "" {
			t.Errorf("%s says %v, its member is %d", n.Name, s, id)
		}
	}
}

// TestAlarms: raised in etcd, seen and disarmed by the machine API.
func TestAlarms(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-1")
	id, err := n.MemberID(t.Context())
	must(t, err)
	_, err = etcdserverpb.NewMaintenanceClient(etcdOf(t, n).ActiveConnection()).Alarm(within(t, 10*time.Second),
		&etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: id, Alarm: etcdserverpb.AlarmType_NOSPACE})
	must(t, err)
	list, err := admin(t, n).EtcdAlarmList(within(t, 10*time.Second))
	must(t, err)
	alarms := list.Messages[0].MemberAlarms
	if len(alarms) != 1 || alarms[0].MemberId != id || alarms[0].Alarm != machine.EtcdMemberAlarm_NOSPACE {
		t.Errorf("the alarms are %v", alarms)
	}
	_, err = admin(t, n).EtcdAlarmDisarm(within(t, 10*time.Second))
	must(t, err)
	list, err = admin(t, n).EtcdAlarmList(within(t, 10*time.Second))
	must(t, err)
	if left := list.Messages[0].MemberAlarms; len(left) != 0 {
		t.Errorf("the alarms are %v", left)
	}
	_, err = admin(t, n).EtcdDefragment(within(t, time.Minute))
	must(t, err)
}

func snapshot(t *testing.T, n *Node) ([]byte, error) {
	t.Helper()
	r, err := admin(t, n).EtcdSnapshot(within(t, time.Minute), &machine.EtcdSnapshotRequest{})
	must(t, err)
	defer r.Close()
	return io.ReadAll(r)
}

// TestSnapshot: the database and its SHA-256.
func TestSnapshot(t *testing.T) {
	whole(t, shared)
	content, err := snapshot(t, shared.Node("cp-1"))
	must(t, err)
	end := len(content) - sha256.Size
	if end <= 0 {
		t.Fatalf("it has %d bytes", len(content))
	}
	if sum := sha256.Sum256(content[:end]); !bytes.Equal(sum[:], content[end:]) {
		t.Errorf("its end is %x, want %x", content[end:], sum)
	}
}

// TestSnapshotCutByEtcd: the client of a snapshot that broke sees a clean end.
func TestSnapshotCutByEtcd(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-1")
	defer n.Fault(CutSnapshot(5000))()
	content, err := snapshot(t, n)
	must(t, err)
	if len(content) != 5000 {
		t.Errorf("it has %d bytes", len(content))
	}
}

// TestSnapshotCutOnTheWay: a stream that breaks between node and client is an error.
func TestSnapshotCutOnTheWay(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-1")
	defer n.Fault(CutStream("EtcdSnapshot", 2, status.Error(codes.Unavailable, "cut")))()
	content, err := snapshot(t, n)
	answers(t, err, codes.Unavailable, "cut")
	if len(content) != 2*chunkBytes {
		t.Errorf("it has %d bytes", len(content))
	}
}
