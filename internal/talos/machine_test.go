package talos

import (
	"context"
	"errors"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// machineAPI answers as a healthy control plane that leads two others, of which one
// has not started.
type machineAPI struct {
	machine.UnimplementedMachineServiceServer
	halfway func(context.Context) error
	*played
}

func (machineAPI) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return &machine.VersionResponse{Messages: []*machine.Version{{Version: &machine.VersionInfo{Tag: "v1.13.9"}}}}, nil
}

func (machineAPI) EtcdMemberList(_ context.Context, in *machine.EtcdMemberListRequest) (*machine.EtcdMemberListResponse, error) {
	if in.GetQueryLocal() {
		return nil, status.Error(codes.InvalidArgument, "a local list is not linearizable")
	}
	return &machine.EtcdMemberListResponse{Messages: []*machine.EtcdMembers{{Members: []*machine.EtcdMember{
		{Id: 0xa, Hostname: "cp-1", PeerUrls: []string{"https://10.5.0.1:2380"}, ClientUrls: []string{"https://10.5.0.1:2379"}},
		{Id: 0xb, PeerUrls: []string{"https://10.5.0.2:2380"}, IsLearner: true},
	}}}}, nil
}

func (machineAPI) EtcdStatus(context.Context, *emptypb.Empty) (*machine.EtcdStatusResponse, error) {
	return &machine.EtcdStatusResponse{Messages: []*machine.EtcdStatus{{MemberStatus: &machine.EtcdMemberStatus{
		MemberId: 0xa, Leader: 0xa, RaftTerm: 2, RaftIndex: 30, RaftAppliedIndex: 29, DbSize: 4096, ProtocolVersion: "3.6.4", Errors: []string{"NOSPACE"},
	}}}}, nil
}

func (machineAPI) EtcdForfeitLeadership(context.Context, *machine.EtcdForfeitLeadershipRequest) (*machine.EtcdForfeitLeadershipResponse, error) {
	return &machine.EtcdForfeitLeadershipResponse{Messages: []*machine.EtcdForfeitLeadership{{Member: "cp-2"}}}, nil
}

func (machineAPI) EtcdLeaveCluster(context.Context, *machine.EtcdLeaveClusterRequest) (*machine.EtcdLeaveClusterResponse, error) {
	return &machine.EtcdLeaveClusterResponse{Messages: []*machine.EtcdLeaveCluster{{}}}, nil
}

func (machineAPI) EtcdRemoveMemberByID(_ context.Context, in *machine.EtcdRemoveMemberByIDRequest) (*machine.EtcdRemoveMemberByIDResponse, error) {
	if in.GetMemberId() != 0xb {
		return nil, status.Error(codes.NotFound, "etcdserver: member not found")
	}
	return &machine.EtcdRemoveMemberByIDResponse{Messages: []*machine.EtcdRemoveMemberByID{{}}}, nil
}

// Read sends the boot ID in two parts.
func (m machineAPI) Read(in *machine.ReadRequest, stream machine.MachineService_ReadServer) error {
	if in.GetPath() != "/proc/sys/kernel/random/boot_id" {
		return status.Error(codes.NotFound, "stat "+in.GetPath()+": no such file or directory")
	}
	if err := stream.Send(&common.Data{Bytes: []byte("6c4b2d6e-0b7c-")}); err != nil {
		return err
	}
	if m.halfway != nil {
		switch err := m.halfway(stream.Context()); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return stream.Send(&common.Data{Bytes: []byte("4a1f-9d5e-3f2a1b0c9d8e\n")})
}
