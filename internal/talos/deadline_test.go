package talos

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// everyCall has a call for each method of the door.
func everyCall(n *Node) map[string]func(context.Context) (any, error) {
	return map[string]func(context.Context) (any, error){
		cosi.State_Get_FullMethodName:                               any1(n.NodeName),
		machine.MachineService_Version_FullMethodName:               any1(n.Version),
		machine.MachineService_Read_FullMethodName:                  any1(n.BootID),
		machine.MachineService_EtcdMemberList_FullMethodName:        any1(n.Members),
		machine.MachineService_EtcdStatus_FullMethodName:            any1(n.EtcdStatus),
		machine.MachineService_EtcdForfeitLeadership_FullMethodName: any1(n.ForfeitLeadership),
		machine.MachineService_EtcdLeaveCluster_FullMethodName:      any0(n.Leave),
		machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  removeOf(n, 0xb),
	}
}

func isOrNil(err, want error) bool { return errors.Is(err, want) && (want == nil) == (err == nil) }

// limit is the default limit of a method, and a way to shorten that alone.
type limit struct {
	limit   time.Duration
	shorten func(*Timeouts) *time.Duration
}

// limits are those of a Node's methods.
var limits = map[string]limit{
	cosi.State_Get_FullMethodName:                               {15 * time.Second, readLimit},
	machine.MachineService_Version_FullMethodName:               {15 * time.Second, readLimit},
	machine.MachineService_Read_FullMethodName:                  {15 * time.Second, readLimit},
	machine.MachineService_EtcdMemberList_FullMethodName:        {15 * time.Second, readLimit},
	machine.MachineService_EtcdStatus_FullMethodName:            {15 * time.Second, readLimit},
	machine.MachineService_EtcdForfeitLeadership_FullMethodName: {30 * time.Second, func(t *Timeouts) *time.Duration { return &t.Forfeit }},
	machine.MachineService_EtcdLeaveCluster_FullMethodName:      {10 * time.Minute, func(t *Timeouts) *time.Duration { return &t.Leave }},
	machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  {30 * time.Second, func(t *Timeouts) *time.Duration { return &t.Remove }},
}

// restoreLimits are those that a Restorer's own methods add.
var restoreLimits = map[string]limit{
	cosi.State_List_FullMethodName:                       {15 * time.Second, readLimit},
	machine.MachineService_List_FullMethodName:           {15 * time.Second, readLimit},
	machine.MachineService_ServiceList_FullMethodName:    {15 * time.Second, readLimit},
	machine.MachineService_EtcdAlarmList_FullMethodName:  {15 * time.Second, readLimit},
	machine.MachineService_ServiceRestart_FullMethodName: {2 * time.Minute, func(t *Timeouts) *time.Duration { return &t.Restart }},
	machine.MachineService_Bootstrap_FullMethodName:      {time.Minute, func(t *Timeouts) *time.Duration { return &t.Bootstrap }},
	machine.MachineService_Reset_FullMethodName:          {30 * time.Second, func(t *Timeouts) *time.Duration { return &t.Reset }},
	machine.MachineService_EtcdSnapshot_FullMethodName:   {time.Hour, transferLimit},
	machine.MachineService_EtcdRecover_FullMethodName:    {time.Hour, transferLimit},
}

func readLimit(t *Timeouts) *time.Duration { return &t.Read }

func transferLimit(t *Timeouts) *time.Duration { return &t.Transfer }

// limitsOf has the calls of both clients, each method once.
func limitsOf(n *Node, r *Restorer) (map[string]limit, map[string]func(context.Context) (any, error)) {
	all, calls := maps.Clone(limits), restoreCalls(r)
	maps.Copy(all, restoreLimits)
	maps.Copy(calls, everyCall(n))
	return all, calls
}

// covers: B-10
func TestEachCallHasItsLimit(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	all, calls := limitsOf(newNode(t, b, Options{Address: s.address, Role: Admin}), newRestorer(t, b, Options{Address: s.address}))
	for method, call := range calls {
		start := time.Now()
		if _, err := call(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, want := s.called()[method], all[method].limit
		if got > want || got < want-time.Since(start) {
			t.Errorf("%s: the node has %s to answer, want %s", method, got, want)
		}
	}
	if LeaveNeeds < 3*time.Minute+5*time.Minute || DefaultLeave <= LeaveNeeds {
		t.Errorf("leave may take %s, and the node needs %s", DefaultLeave, LeaveNeeds)
	}
}

// covers: B-10
func TestSilentNodeEndsEachCallByItsOwnLimit(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, func(s *server) { s.before = silence })
	all, _ := limitsOf(newNode(t, b, Options{Address: s.address}), newRestorer(t, b, Options{Address: s.address}))
	for method, its := range all {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			const long = time.Minute
			timeouts := Timeouts{Dial: long, Read: long, Forfeit: long, Remove: long, Leave: long, Reset: long, Bootstrap: long, Restart: long, Transfer: long, Stall: long}
			*its.shorten(&timeouts) = 200 * time.Millisecond
			o := Options{Address: s.address, Role: Admin, Timeouts: timeouts}
			_, calls := limitsOf(newNode(t, b, o), newRestorer(t, b, o))
			start := time.Now()
			_, err := calls[method](t.Context())
			if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want ErrUnreachable for a deadline", err)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A leave that is cut leaves data behind, so that it is not begun.
func TestLeaveWantsTime(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	n := newNode(t, b, Options{Address: s.address, Role: Admin})
	short, cancel := context.WithTimeout(t.Context(), LeaveNeeds-time.Second)
	defer cancel()
	err := n.Leave(short)
	want := "leave the etcd cluster at " + s.address + ": the deadline is too short: the node may need 8m0s; give the call more time"
	if !errors.Is(err, ErrShortDeadline) || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if len(s.called()) != 0 {
		t.Errorf("the node was called: %v", s.called())
	}
	long, cancel := context.WithTimeout(t.Context(), LeaveNeeds+time.Minute)
	defer cancel()
	if err := n.Leave(long); err != nil {
		t.Errorf("with enough time: %v", err)
	}
}
