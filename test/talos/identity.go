package talos

import (
	"context"
	"fmt"
	"runtime"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// talosVersion is the one whose behaviour is modelled.
const talosVersion = "v1.13.9"

// bootIDPath is where clients read the boot ID.
const bootIDPath = "/proc/sys/kernel/random/boot_id"

// Version tells what the node says it is.
func (a *api) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return &machine.VersionResponse{Messages: []*machine.Version{{
		Version:  &machine.VersionInfo{Tag: talosVersion, Os: runtime.GOOS, Arch: runtime.GOARCH},
		Platform: &machine.PlatformInfo{Name: "metal", Mode: "metal"},
		Features: &machine.FeaturesInfo{Rbac: true},
	}}}, nil
}

// Hostname tells the short name, without a domain.
func (a *api) Hostname(context.Context, *emptypb.Empty) (*machine.HostnameResponse, error) {
	return &machine.HostnameResponse{Messages: []*machine.Hostname{{Hostname: a.boot.node.Name}}}, nil
}

// Read has the boot ID and no other file.
func (a *api) Read(in *machine.ReadRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	if in.Path != bootIDPath {
		return status.Errorf(codes.NotFound, "stat %s: no such file or directory", in.Path)
	}
	return stream.Send(&common.Data{Bytes: []byte(a.boot.id + "\n")})
}

// ServiceList tells all services in the order of their start.
func (a *api) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	list := &machine.ServiceList{}
	for _, s := range a.boot.services.all() {
		list.Services = append(list.Services, s.info())
	}
	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{list}}, nil
}

// ServiceStop refuses every service that is here.
func (a *api) ServiceStop(_ context.Context, in *machine.ServiceStopRequest) (*machine.ServiceStopResponse, error) {
	return nil, a.refuse(in.Id, "stop")
}

// ServiceRestart restarts the kubelet alone, and answers when it has started: the pods
// go on, and it lists them anew. etcd is neither stopped nor restarted.
func (a *api) ServiceRestart(ctx context.Context, in *machine.ServiceRestartRequest) (*machine.ServiceRestartResponse, error) {
	if in.Id != kubeletServiceID || a.boot.kubelet == nil {
		return nil, a.refuse(in.Id, "restart")
	}
	if err := a.boot.services.restart(ctx, a.boot.ctx, kubeletServiceID); err != nil {
		return nil, err
	}
	return &machine.ServiceRestartResponse{Messages: []*machine.ServiceRestart{{Resp: fmt.Sprintf("Service %q restarted", in.Id)}}}, nil
}

func (a *api) refuse(id, operation string) error {
	if a.boot.services.find(id) == nil {
		return fmt.Errorf("service %q not defined", id)
	}
	return fmt.Errorf("service %q doesn't support %s operation via API", id, operation)
}
