package talos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	machineryrole "github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// restoreCalls has a call for each method of a Restorer's door.
func restoreCalls(r *Restorer) map[string]func(context.Context) (any, error) {
	return map[string]func(context.Context) (any, error){
		cosi.State_Get_FullMethodName:                               any1(r.NodeName),
		cosi.State_List_FullMethodName:                              any1(r.Volumes),
		machine.MachineService_Version_FullMethodName:               any1(r.Version),
		machine.MachineService_Read_FullMethodName:                  any1(r.BootID),
		machine.MachineService_List_FullMethodName:                  any1(r.HasEtcdData),
		machine.MachineService_ServiceList_FullMethodName:           any1(r.EtcdService),
		machine.MachineService_ServiceRestart_FullMethodName:        any0(r.RestartKubelet),
		machine.MachineService_EtcdMemberList_FullMethodName:        any1(r.Members),
		machine.MachineService_EtcdStatus_FullMethodName:            any1(r.EtcdStatus),
		machine.MachineService_EtcdAlarmList_FullMethodName:         any1(r.Alarms),
		machine.MachineService_EtcdSnapshot_FullMethodName:          snapshotOf(r),
		machine.MachineService_EtcdForfeitLeadership_FullMethodName: any1(r.ForfeitLeadership),
		machine.MachineService_EtcdLeaveCluster_FullMethodName:      any0(r.Leave),
		machine.MachineService_EtcdRecover_FullMethodName:           recoverOf(r, "a snapshot"),
		machine.MachineService_Bootstrap_FullMethodName:             any0(r.Bootstrap),
		machine.MachineService_Reset_FullMethodName:                 resetOf(r),
	}
}

func resetOf(r *Restorer, volumes ...string) func(context.Context) (any, error) {
	return any0(func(ctx context.Context) error { return r.Reset(ctx, volumes) })
}

func recoverOf(r *Restorer, content string) func(context.Context) (any, error) {
	return any0(func(ctx context.Context) error { return r.Recover(ctx, bytes.NewReader([]byte(content))) })
}

// snapshotOf reads all of it.
func snapshotOf(r *Restorer) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		s, err := r.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(s)
		return string(content), errors.Join(err, s.Close())
	}
}

func TestRestorerOfAHealthyNode(t *testing.T) {
	b := loadBundle(t)
	r := newRestorer(t, b, Options{Address: newServer(t, b, nil).address})
	cases := []struct {
		name string
		call func(context.Context) (any, error)
		want any
	}{
		{"data", any1(r.HasEtcdData), true},
		{"volumes", any1(r.Volumes), []string{}},
		{"alarms", any1(r.Alarms), []Alarm{{0xb, "NOSPACE"}}},
		{"service etcd", any1(r.EtcdService), Service{State: "Failed", Event: "error verifying snapshot", Health: "no route"}},
		{"snapshot", snapshotOf(r), "the database"},
		{"upload", recoverOf(r, "a snapshot"), nil},
		{"boot ID", any1(r.BootID), "6c4b2d6e-0b7c-4a1f-9d5e-3f2a1b0c9d8e"},
		{"own member", any1(r.MemberID), uint64(0xa)},
		{"name of the Node", any1(r.NodeName), "cp-1.example.com"},
		{"own cluster", any0(r.VerifyCluster), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.call(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// What is asked of a node that is to be wiped and founded anew is spelled out: one
// partition less and the old data would live on, none at all and the whole disk goes.
//
// covers: C-12
func TestWhatARestoreAsksFor(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	r := newRestorer(t, b, Options{Address: s.address})
	for _, call := range []func(context.Context) (any, error){resetOf(r), resetOf(r, "ETCD", "LOG"), any0(r.Bootstrap), any0(r.RestartKubelet)} {
		if _, err := call(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wipe := func(label string) *machine.ResetPartitionSpec {
		return &machine.ResetPartitionSpec{Label: label, Wipe: true}
	}
	want := []proto.Message{
		&machine.ResetRequest{Reboot: true, Mode: machine.ResetRequest_SYSTEM_DISK, SystemPartitionsToWipe: []*machine.ResetPartitionSpec{wipe("EPHEMERAL")}},
		&machine.ResetRequest{Reboot: true, Mode: machine.ResetRequest_SYSTEM_DISK, SystemPartitionsToWipe: []*machine.ResetPartitionSpec{wipe("EPHEMERAL"), wipe("ETCD"), wipe("LOG")}},
		&machine.BootstrapRequest{RecoverEtcd: true},
		&machine.ServiceRestartRequest{Id: "kubelet"},
	}
	for i, got := range s.played.asked {
		if !proto.Equal(got, want[i]) {
			t.Errorf("call %d asks for %v, want %v", i, got, want[i])
		}
	}
	if len(s.played.asked) != len(want) {
		t.Errorf("%d calls have arrived, want %d", len(s.played.asked), len(want))
	}
}

// A node that is booting is waited for, and one that has data is asked what they are:
// neither is a failure.
func TestAnswersToABootstrap(t *testing.T) {
	const founding = "found etcd from the snapshot at NODE: "
	bootstrap := func(r *Restorer) func(context.Context) (any, error) { return any0(r.Bootstrap) }
	for _, c := range []failure{
		{name: "no time yet", server: answerOf(status.Error(codes.FailedPrecondition, "time is not in sync yet")), restore: bootstrap, kind: ErrNotReady,
			message: founding + "the node is not ready for it yet: rpc error: code = FailedPrecondition desc = time is not in sync yet; wait for the node to boot, and see its console if it does not"},
		{name: "data", server: answerOf(status.Error(codes.AlreadyExists, "etcd data directory is not empty")), restore: bootstrap, kind: ErrHasData,
			message: founding + "the node has etcd data already: rpc error: code = AlreadyExists desc = etcd data directory is not empty; ask its etcd whether it is the recovered one, and wipe the node if it is not"},
		{name: "role", options: Options{Role: Operator}, restore: bootstrap, kind: ErrDenied,
			message: founding + "the node denies it: rpc error: code = PermissionDenied desc = not authorized; use a bundle of this cluster and a role that may do it"},
		{name: "no etcd service", server: func(s *server) { s.played.services = s.played.services[:1] }, kind: ErrNotFound,
			restore: func(r *Restorer) func(context.Context) (any, error) { return any1(r.EtcdService) },
			message: "read the state of the etcd service at NODE: the node has no such thing: it has 1 other services; it is there once the service that owns it is healthy"},
	} {
		t.Run(c.name, c.run)
	}
}

// What each role may do of it, as the node has it.
func TestRolesOfARestorer(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	for _, role := range []Role{Reader, Operator, Admin} {
		r := newRestorer(t, b, Options{Address: s.address, Role: role})
		for method, call := range restoreCalls(r) {
			_, err := call(t.Context())
			var want error
			if !roles()[method].Includes(machineryrole.Role(role)) {
				want = ErrDenied
			}
			if !isOrNil(err, want) {
				t.Errorf("%s as %s: got %v, want %v", method, role, err, want)
			}
		}
	}
}
