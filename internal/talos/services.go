package talos

import (
	"context"
	"fmt"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"
)

// etcdService is the service's name.
const etcdService = "etcd"

// Alarm is one that a member of etcd has raised.
type Alarm struct {
	MemberID uint64
	// Name is etcd's: NOSPACE or CORRUPT.
	Name string
}

// Alarms are those of the whole cluster, as the node's own member knows them.
func (r *Restorer) Alarms(ctx context.Context) ([]Alarm, error) {
	return ask(ctx, r.client, r.timeouts.Read, "list the alarms of etcd", func(ctx context.Context) ([]Alarm, error) {
		answer, err := r.machine.EtcdAlarmList(ctx, &emptypb.Empty{})
		if err != nil {
			return nil, err
		}
		list, err := only(answer.GetMessages())
		if err != nil {
			return nil, err
		}
		var alarms []Alarm
		for _, a := range list.GetMemberAlarms() {
			alarms = append(alarms, Alarm{a.GetMemberId(), a.GetAlarm().String()})
		}
		return alarms, nil
	})
}

// Service is how a service of the node is.
type Service struct {
	// State is Talos' word, such as Preparing, Running or Failed.
	State string
	// Healthy is false too where nobody has looked yet.
	Healthy bool
	// Event is what the service has told last of its work, Health of its health.
	Event, Health string
}

// EtcdService tells how the node's etcd service is, and so why a restore has failed
// that [Restorer.Bootstrap] began. It is ErrNotFound on a node that has none yet.
func (r *Restorer) EtcdService(ctx context.Context) (Service, error) {
	const doing = "read the state of the etcd service"
	all, err := ask(ctx, r.client, r.timeouts.Read, doing, func(ctx context.Context) ([]*machine.ServiceInfo, error) {
		answer, err := r.machine.ServiceList(ctx, &emptypb.Empty{})
		if err != nil {
			return nil, err
		}
		list, err := only(answer.GetMessages())
		return list.GetServices(), err
	})
	if err != nil {
		return Service{}, err
	}
	i := slices.IndexFunc(all, func(s *machine.ServiceInfo) bool { return s.GetId() == etcdService })
	if i < 0 {
		return Service{}, r.explain(doing, ErrNotFound, fmt.Errorf("it has %d other services", len(all)))
	}
	return serviceOf(all[i]), nil
}

func serviceOf(s *machine.ServiceInfo) Service {
	is := Service{State: s.GetState(), Healthy: s.GetHealth().GetHealthy() && !s.GetHealth().GetUnknown(), Health: s.GetHealth().GetLastMessage()}
	if events := s.GetEvents().GetEvents(); len(events) > 0 {
		is.Event = events[len(events)-1].GetMsg()
	}
	return is
}
