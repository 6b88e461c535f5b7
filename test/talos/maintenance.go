package talos

import (
	"context"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/types/known/emptypb"
)

// local asks the node's own etcd, and no other: each of the calls here is about that
// member alone.
func (a *api) local(ctx context.Context, name, failed string, ask func(*clientv3.Client) error) error {
	if err := a.onControlPlane(name); err != nil {
		return err
	}
	client, err := a.boot.localClient(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := ask(client); err != nil {
		return fmt.Errorf("%s: %w", failed, err)
	}
	return nil
}

// EtcdStatus is the own member's. It has no revision.
func (a *api) EtcdStatus(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdStatusResponse, error) {
	var s *clientv3.StatusResponse
	err := a.local(ctx, "etcd status", "failed to query etcd status", func(c *clientv3.Client) (err error) {
		s, err = c.Status(ctx, a.boot.localEndpoint())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &machine.EtcdStatusResponse{Messages: []*machine.EtcdStatus{{MemberStatus: &machine.EtcdMemberStatus{
		MemberId: s.Header.MemberId, ProtocolVersion: s.Version, StorageVersion: s.StorageVersion,
		DbSize: s.DbSize, DbSizeInUse: s.DbSizeInUse, Leader: s.Leader, RaftIndex: s.RaftIndex, RaftTerm: s.RaftTerm,
		RaftAppliedIndex: s.RaftAppliedIndex, Errors: s.Errors, IsLearner: s.IsLearner,
	}}}}, nil
}

// EtcdAlarmList is what the own member knows of alarms.
func (a *api) EtcdAlarmList(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdAlarmListResponse, error) {
	var alarms []*machine.EtcdMemberAlarm
	err := a.local(ctx, "etcd alarm list", "failed to list etcd alarms", func(c *clientv3.Client) error {
		answer, err := c.AlarmList(ctx)
		alarms = alarmsOf(answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &machine.EtcdAlarmListResponse{Messages: []*machine.EtcdAlarm{{MemberAlarms: alarms}}}, nil
}

// EtcdAlarmDisarm takes back the alarms of all members, and answers them.
func (a *api) EtcdAlarmDisarm(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdAlarmDisarmResponse, error) {
	var alarms []*machine.EtcdMemberAlarm
	err := a.local(ctx, "etcd alarm disarm", "failed to disarm etcd alarm", func(c *clientv3.Client) error {
		answer, err := c.AlarmDisarm(ctx, &clientv3.AlarmMember{})
		alarms = alarmsOf(answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &machine.EtcdAlarmDisarmResponse{Messages: []*machine.EtcdAlarmDisarm{{MemberAlarms: alarms}}}, nil
}

func alarmsOf(answer *clientv3.AlarmResponse) (out []*machine.EtcdMemberAlarm) {
	if answer == nil {
		return nil
	}
	kinds := map[etcdserverpb.AlarmType]machine.EtcdMemberAlarm_AlarmType{
		etcdserverpb.AlarmType_NOSPACE: machine.EtcdMemberAlarm_NOSPACE,
		etcdserverpb.AlarmType_CORRUPT: machine.EtcdMemberAlarm_CORRUPT,
	}
	for _, alarm := range answer.Alarms {
		out = append(out, &machine.EtcdMemberAlarm{MemberId: alarm.MemberID, Alarm: kinds[alarm.Alarm]})
	}
	return out
}

// EtcdDefragment defragments the own member's database, which answers nobody meanwhile.
func (a *api) EtcdDefragment(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdDefragmentResponse, error) {
	err := a.local(ctx, "etcd defragment", "failed to defragment etcd", func(c *clientv3.Client) error {
		_, err := c.Defragment(ctx, a.boot.localEndpoint())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &machine.EtcdDefragmentResponse{Messages: []*machine.EtcdDefragment{{}}}, nil
}
