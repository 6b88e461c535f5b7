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

// Whatever client is built on a Node's connection, it reaches what removal needs and
// nothing else.
//
// covers: B-3
func TestDoorLeadsToRemovalAlone(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	n := newNode(t, b, Options{Address: s.address, Role: Admin})
	behind := door{n.conn, removalMethods}
	for _, service := range []grpc.ServiceDesc{machine.MachineService_ServiceDesc, cosi.State_ServiceDesc} {
		for _, m := range service.Methods {
			method := "/" + service.ServiceName + "/" + m.MethodName
			knock(t, method, behind.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}))
		}
		for _, m := range service.Streams {
			method := "/" + service.ServiceName + "/" + m.StreamName
			_, err := behind.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			knock(t, method, err)
		}
	}
	for method := range s.called() {
		if !removalMethods[method] {
			t.Errorf("%s reached the node", method)
		}
	}
}

func knock(t *testing.T, method string, err error) {
	t.Helper()
	if errors.Is(err, ErrClosedDoor) == removalMethods[method] {
		t.Errorf("%s: %v", method, err)
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
	} {
		if removalMethods[method] {
			t.Errorf("removal can reach %s", method)
		}
	}
	methods := reflect.TypeFor[*Node]()
	var got []string
	for m := range methods.Methods() {
		got = append(got, m.Name)
	}
	want := []string{"Address", "BootID", "Close", "EtcdStatus", "ForfeitLeadership", "Hostname", "Leave", "MemberID", "Members", "NodeName", "RemoveMember", "VerifyCluster", "Version"}
	if !slices.Equal(got, want) {
		t.Errorf("a Node has the methods %v, want %v", got, want)
	}
	if len(removalMethods) != 8 {
		t.Errorf("the door has %d methods, want 8", len(removalMethods))
	}
}
