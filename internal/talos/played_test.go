package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// played is the part of a machine that a restore sees and changes: a healthy control
// plane of one disk, with etcd's data.
type played struct {
	volumes []*block.VolumeStatus
	// paths are those that List knows, with an error in the entry where there is one.
	paths map[string]string
	// listing is the answer to List if it is set; io.EOF is an empty one.
	listing error
	// services are those of ServiceList.
	services []*machine.ServiceInfo
	// parts are a snapshot's; then it waits if held, and ends with partsEnd.
	parts    []*common.Data
	held     bool
	partsEnd error
	// refuse is the answer to an upload after its first part, deaf lets it wait for ever.
	refuse error
	deaf   bool
	// curt takes the first part of an upload for the whole.
	curt bool
	// lose is how many bytes of an upload do not reach the disk.
	lose int

	mu       sync.Mutex
	asked    []proto.Message
	uploaded []byte
	// ends are how the streams have ended for the node, in their order.
	ends []error
}

func newPlayed() *played {
	return &played{
		volumes: []*block.VolumeStatus{volumeOf("EPHEMERAL", block.VolumeTypePartition, "/dev/vda4"), volumeOf("ETCD", block.VolumeTypeDirectory, "")},
		paths:   map[string]string{"/var/lib": "", "/var/lib/etcd/member": ""},
		services: []*machine.ServiceInfo{
			{Id: "apid", State: "Running"},
			{Id: "etcd", State: "Failed", Health: &machine.ServiceHealth{LastMessage: "no route"}, Events: &machine.ServiceEvents{Events: []*machine.ServiceEvent{
				{Msg: "Running pre state"}, {Msg: "error verifying snapshot"},
			}}},
		},
		parts: []*common.Data{{Bytes: []byte("the data")}, {}, {Bytes: []byte("base")}},
	}
}

func volumeOf(id string, kind block.VolumeType, location string) *block.VolumeStatus {
	v := block.NewVolumeStatus(block.NamespaceName, id)
	v.TypedSpec().Type, v.TypedSpec().Location = kind, location
	return v
}

func (p *played) note(in proto.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, in)
}

func (p *played) ended(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends = append(p.ends, err)
	return err
}

// end is how the one stream has ended for the node.
func (p *played) end() (over bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ends) == 0 {
		return false, nil
	}
	return true, p.ends[0]
}

func (m machineAPI) Reset(_ context.Context, in *machine.ResetRequest) (*machine.ResetResponse, error) {
	m.note(in)
	return &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: "a"}}}, nil
}

func (m machineAPI) Bootstrap(_ context.Context, in *machine.BootstrapRequest) (*machine.BootstrapResponse, error) {
	m.note(in)
	return &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}, nil
}

func (m machineAPI) ServiceRestart(_ context.Context, in *machine.ServiceRestartRequest) (*machine.ServiceRestartResponse, error) {
	m.note(in)
	return &machine.ServiceRestartResponse{Messages: []*machine.ServiceRestart{{Resp: "restarted"}}}, nil
}

func (m machineAPI) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{{Services: m.services}}}, nil
}

func (machineAPI) EtcdAlarmList(context.Context, *emptypb.Empty) (*machine.EtcdAlarmListResponse, error) {
	return &machine.EtcdAlarmListResponse{Messages: []*machine.EtcdAlarm{{MemberAlarms: []*machine.EtcdMemberAlarm{
		{MemberId: 0xb, Alarm: machine.EtcdMemberAlarm_NOSPACE},
	}}}}, nil
}

// List knows the root alone, as it is.
func (m machineAPI) List(in *machine.ListRequest, stream machine.MachineService_ListServer) error {
	if errors.Is(m.listing, io.EOF) {
		return nil
	}
	if m.listing != nil {
		return m.listing
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.paths[in.GetRoot()]
	if in.GetRoot() == "/var/lib/etcd.snapshot" {
		ok = m.uploaded != nil
	}
	if !ok {
		return fmt.Errorf("lstat %s: no such file or directory", in.GetRoot())
	}
	return stream.Send(&machine.FileInfo{Name: in.GetRoot(), RelativeName: ".", Size: int64(len(m.uploaded)), Error: text})
}

func (m machineAPI) EtcdSnapshot(_ *machine.EtcdSnapshotRequest, stream machine.MachineService_EtcdSnapshotServer) error {
	for _, part := range m.parts {
		if err := stream.Send(part); err != nil {
			return m.ended(err)
		}
	}
	if m.held {
		return m.ended(silence(stream.Context()))
	}
	return m.ended(m.partsEnd)
}

func (m machineAPI) EtcdRecover(stream machine.MachineService_EtcdRecoverServer) error {
	var all []byte
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			m.mu.Lock()
			m.uploaded = all[:max(0, len(all)-m.lose)]
			m.mu.Unlock()
			return m.ended(stream.SendAndClose(&machine.EtcdRecoverResponse{Messages: []*machine.EtcdRecover{{}}}))
		case err != nil:
			return m.ended(err)
		case m.refuse != nil:
			return m.ended(m.refuse)
		case m.deaf:
			return m.ended(silence(stream.Context()))
		}
		all = append(all, part.GetBytes()...)
		if m.curt {
			m.uploaded = all
			return m.ended(stream.SendAndClose(&machine.EtcdRecoverResponse{Messages: []*machine.EtcdRecover{{}}}))
		}
	}
}
