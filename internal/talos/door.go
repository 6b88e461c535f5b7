package talos

import (
	"context"
	"fmt"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
)

// door is a connection that leads to the methods of its list alone, whatever client
// is built on it: what is not in the list never leaves this process.
type door struct {
	grpc.ClientConnInterface
	open map[string]bool
}

// removalMethods are what the removal of a member needs. Reset, Bootstrap,
// EtcdRecover and MetaWrite are not among them.
var removalMethods = map[string]bool{
	cosi.State_Get_FullMethodName:                               true,
	machine.MachineService_Version_FullMethodName:               true,
	machine.MachineService_Read_FullMethodName:                  true,
	machine.MachineService_EtcdMemberList_FullMethodName:        true,
	machine.MachineService_EtcdStatus_FullMethodName:            true,
	machine.MachineService_EtcdForfeitLeadership_FullMethodName: true,
	machine.MachineService_EtcdLeaveCluster_FullMethodName:      true,
	machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  true,
}

// restoreMethods are what backups and a restore need. What changes a machine's
// configuration, writes to META or removes another member is not among them.
var restoreMethods = map[string]bool{
	cosi.State_Get_FullMethodName:                               true,
	cosi.State_List_FullMethodName:                              true,
	machine.MachineService_Version_FullMethodName:               true,
	machine.MachineService_Read_FullMethodName:                  true,
	machine.MachineService_List_FullMethodName:                  true,
	machine.MachineService_ServiceList_FullMethodName:           true,
	machine.MachineService_ServiceRestart_FullMethodName:        true,
	machine.MachineService_EtcdMemberList_FullMethodName:        true,
	machine.MachineService_EtcdStatus_FullMethodName:            true,
	machine.MachineService_EtcdAlarmList_FullMethodName:         true,
	machine.MachineService_EtcdSnapshot_FullMethodName:          true,
	machine.MachineService_EtcdForfeitLeadership_FullMethodName: true,
	machine.MachineService_EtcdLeaveCluster_FullMethodName:      true,
	machine.MachineService_EtcdRecover_FullMethodName:           true,
	machine.MachineService_Bootstrap_FullMethodName:             true,
	machine.MachineService_Reset_FullMethodName:                 true,
}

// Invoke implements grpc.ClientConnInterface.
func (d door) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if !d.open[method] {
		return fmt.Errorf("call %s: %w", method, ErrClosedDoor)
	}
	return d.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (d door) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if !d.open[method] {
		return nil, fmt.Errorf("call %s: %w", method, ErrClosedDoor)
	}
	return d.ClientConnInterface.NewStream(ctx, desc, method, opts...)
}
