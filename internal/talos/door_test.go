package talos

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Whatever client is built on a connection, it reaches what its door leads to and
// nothing else.
//
// covers: B-3
func TestDoorsLeadToTheirMethodsAlone(t *testing.T) {
	b := loadBundle(t)
	for name, methods := range map[string]map[string]bool{"removal": removalMethods, "restore": restoreMethods} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, b, nil)
			behind := door{newNode(t, b, Options{Address: s.address, Role: Admin}).conn, methods}
			for _, service := range []grpc.ServiceDesc{machine.MachineService_ServiceDesc, cosi.State_ServiceDesc} {
				for _, m := range service.Methods {
					method := "/" + service.ServiceName + "/" + m.MethodName
					knock(t, methods, method, behind.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}))
				}
				for _, m := range service.Streams {
					method := "/" + service.ServiceName + "/" + m.StreamName
					_, err := behind.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
					knock(t, methods, method, err)
				}
			}
			for method := range s.called() {
				if !methods[method] {
					t.Errorf("%s reached the node", method)
				}
			}
		})
	}
}

func knock(t *testing.T, methods map[string]bool, method string, err error) {
	t.Helper()
	if errors.Is(err, ErrClosedDoor) == methods[method] {
		t.Errorf("%s: %v", method, err)
	}
}

// Each client is behind its own door: what it calls that its door has not never leaves.
//
// covers: B-3
func TestClientsAreBehindTheirDoors(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	n := newNode(t, b, Options{Address: s.address, Role: Admin})
	r := newRestorer(t, b, Options{Address: s.address})
	if _, err := n.machine.Reset(t.Context(), &machine.ResetRequest{}); !errors.Is(err, ErrClosedDoor) {
		t.Errorf("a Node resets: %v", err)
	}
	if _, err := r.machine.EtcdRemoveMemberByID(t.Context(), &machine.EtcdRemoveMemberByIDRequest{}); !errors.Is(err, ErrClosedDoor) {
		t.Errorf("a Restorer removes members: %v", err)
	}
	// A Restorer's calls by a Node's connection.
	misplaced := &Restorer{n.client}
	for method, call := range restoreCalls(misplaced) {
		if _, err := call(t.Context()); errors.Is(err, ErrClosedDoor) == removalMethods[method] {
			t.Errorf("%s: %v", method, err)
		}
	}
	if len(s.played.asked) != 0 {
		t.Errorf("the node was asked for %v", s.played.asked)
	}
}

// The list of methods is held here once more, so that one more is seen in a review.
//
// covers: B-3
func TestDoorHasNoDestructiveMethod(t *testing.T) {
	for _, method := range []string{
		machine.MachineService_Reset_FullMethodName, machine.MachineService_Bootstrap_FullMethodName,
		machine.MachineService_EtcdRecover_FullMethodName, machine.MachineService_MetaWrite_FullMethodName,
		machine.MachineService_MetaDelete_FullMethodName, machine.MachineService_Reboot_FullMethodName,
		machine.MachineService_ServiceRestart_FullMethodName,
	} {
		if removalMethods[method] {
			t.Errorf("removal can reach %s", method)
		}
	}
	want := []string{"Address", "BootID", "Close", "ConfigStaged", "EtcdStatus", "ForfeitLeadership", "Hostname", "Leave", "MemberID", "Members", "NodeName", "RemoveMember", "VerifyCluster", "Version"}
	if got := methodsOf[*Node](); !slices.Equal(got, want) {
		t.Errorf("a Node has the methods %v, want %v", got, want)
	}
	if len(removalMethods) != 8 {
		t.Errorf("the door has %d methods, want 8", len(removalMethods))
	}
}

// What may wipe a machine is no more than what a restore needs. A reboot alone is not
// among it.
//
// covers: C-23
func TestDoorOfARestore(t *testing.T) {
	want := []string{"Address", "Alarms", "BootID", "Bootstrap", "Close", "ConfigStaged", "EtcdService", "EtcdStatus", "ForfeitLeadership", "HasEtcdData", "Hostname", "Leave", "MemberID",
		"Members", "NodeName", "Recover", "Reset", "RestartKubelet", "Snapshot", "VerifyCluster", "Version", "Volumes"}
	if got := methodsOf[*Restorer](); !slices.Equal(got, want) {
		t.Errorf("a Restorer has the methods %v, want %v", got, want)
	}
	for _, method := range []string{
		machine.MachineService_MetaWrite_FullMethodName, machine.MachineService_MetaDelete_FullMethodName, machine.MachineService_Reboot_FullMethodName,
		machine.MachineService_ApplyConfiguration_FullMethodName, machine.MachineService_EtcdRemoveMemberByID_FullMethodName, machine.MachineService_Upgrade_FullMethodName,
	} {
		if restoreMethods[method] {
			t.Errorf("a restore can reach %s", method)
		}
	}
	if len(restoreMethods) != 16 {
		t.Errorf("the door has %d methods, want 16", len(restoreMethods))
	}
}

func methodsOf[T any]() (names []string) {
	for m := range reflect.TypeFor[T]().Methods() {
		names = append(names, m.Name)
	}
	return names
}
