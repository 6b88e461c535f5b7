package talos

import (
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// roles are those that Talos 1.13 asks for (internal/app/machined, services).
func roles() map[string]role.Set {
	admin, reader := role.MakeSet(role.Admin), role.MakeSet(role.Admin, role.Operator, role.Reader)
	operator := role.MakeSet(role.Admin, role.Operator)
	return map[string]role.Set{
		cosi.State_Get_FullMethodName:                               reader,
		machine.MachineService_Version_FullMethodName:               reader,
		machine.MachineService_EtcdMemberList_FullMethodName:        reader,
		machine.MachineService_EtcdStatus_FullMethodName:            reader,
		machine.MachineService_Read_FullMethodName:                  admin,
		machine.MachineService_EtcdForfeitLeadership_FullMethodName: admin,
		machine.MachineService_EtcdLeaveCluster_FullMethodName:      admin,
		machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  admin,
		cosi.State_List_FullMethodName:                              reader,
		machine.MachineService_List_FullMethodName:                  reader,
		machine.MachineService_ServiceList_FullMethodName:           reader,
		machine.MachineService_EtcdAlarmList_FullMethodName:         reader,
		machine.MachineService_EtcdSnapshot_FullMethodName:          operator,
		machine.MachineService_ServiceRestart_FullMethodName:        operator,
		machine.MachineService_EtcdRecover_FullMethodName:           admin,
		machine.MachineService_Bootstrap_FullMethodName:             admin,
		machine.MachineService_Reset_FullMethodName:                 admin,
	}
}

func (s *server) fill(t testing.TB, b *Bundle) {
	t.Helper()
	hostname := network.NewHostnameStatus(network.NamespaceName, network.HostnameID)
	hostname.TypedSpec().Hostname, hostname.TypedSpec().Domainname = "cp-1", "example.com"
	name := k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID)
	name.TypedSpec().Nodename = "cp-1.example.com"
	member := etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID)
	member.TypedSpec().MemberID = etcd.FormatMemberID(0xa)
	info := cluster.NewInfo()
	info.TypedSpec().ClusterID = b.ClusterID()
	s.create(t, hostname, name, member, info)
}

// partition makes the volumes as they were changed to be.
func (s *server) partition(t testing.TB) {
	t.Helper()
	for _, v := range s.played.volumes {
		s.create(t, v)
	}
}

func (s *server) create(t testing.TB, all ...resource.Resource) {
	t.Helper()
	for _, r := range all {
		if err := s.state.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}
