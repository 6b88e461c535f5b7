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
	return map[string]role.Set{
		cosi.State_Get_FullMethodName:                               reader,
		machine.MachineService_Version_FullMethodName:               reader,
		machine.MachineService_EtcdMemberList_FullMethodName:        reader,
		machine.MachineService_EtcdStatus_FullMethodName:            reader,
		machine.MachineService_Read_FullMethodName:                  admin,
		machine.MachineService_EtcdForfeitLeadership_FullMethodName: admin,
		machine.MachineService_EtcdLeaveCluster_FullMethodName:      admin,
		machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  admin,
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
	for _, r := range []resource.Resource{hostname, name, member, info} {
		if err := s.state.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}
