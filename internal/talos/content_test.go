package talos

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/proto"
)

// An answer that has nothing in it is an error: an empty list of members would say
// that a member is gone.
func TestAnswersWithoutContent(t *testing.T) {
	b := loadBundle(t)
	cases := []struct {
		name   string
		change func(proto.Message)
		text   string
	}{
		{"no message", proto.Reset, "the answer is empty"},
		{"no members", func(m proto.Message) {
			if list, ok := m.(*machine.EtcdMemberListResponse); ok {
				list.Messages[0].Members = nil
				return
			}
			proto.Reset(m)
		}, "the answer is empty"},
		{"error of a proxy", blameNode, "the node is away"},
	}
	for _, c := range cases {
		s := newServer(t, b, func(s *server) { s.change = c.change })
		_, calls := limitsOf(newNode(t, b, Options{Address: s.address, Role: Admin}), newRestorer(t, b, Options{Address: s.address}))
		for method, call := range calls {
			if slices.Contains(withoutMessages, method) {
				continue
			}
			_, err := call(t.Context())
			if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), ": "+c.text+"; see the node's logs") {
				t.Errorf("%s of %s: got %v", c.name, method, err)
			}
		}
	}
}

// withoutMessages are streams and resources.
var withoutMessages = []string{
	cosi.State_Get_FullMethodName, cosi.State_List_FullMethodName, machine.MachineService_Read_FullMethodName,
	machine.MachineService_List_FullMethodName, machine.MachineService_EtcdSnapshot_FullMethodName, machine.MachineService_EtcdRecover_FullMethodName,
}

// blameNode is what a proxy of several nodes makes of an error of one.
func blameNode(m proto.Message) {
	away := &common.Metadata{Error: "the node is away"}
	switch m := m.(type) {
	case *machine.VersionResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdMemberListResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdStatusResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdForfeitLeadershipResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdLeaveClusterResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdRemoveMemberByIDResponse:
		m.Messages[0].Metadata = away
	case *machine.EtcdAlarmListResponse:
		m.Messages[0].Metadata = away
	case *machine.ServiceListResponse:
		m.Messages[0].Metadata = away
	case *machine.ServiceRestartResponse:
		m.Messages[0].Metadata = away
	case *machine.BootstrapResponse:
		m.Messages[0].Metadata = away
	case *machine.ResetResponse:
		m.Messages[0].Metadata = away
	}
}

// A file that Talos could not read on ends as if it were whole.
func TestHalfABootIDIsNone(t *testing.T) {
	failure{name: "half", server: func(s *server) { s.halfway = func(context.Context) error { return io.EOF } },
		options: Options{Role: Admin}, call: func(n *Node) func(context.Context) (any, error) { return any1(n.BootID) }, kind: ErrFailed,
		message: `read the boot ID at NODE: the node answers with an error: "6c4b2d6e-0b7c-" is no boot ID; see the node's logs`}.run(t)
}

// A resource without its content is none.
func TestEmptyResource(t *testing.T) {
	b := loadBundle(t)
	n := newNode(t, b, Options{Address: newServer(t, b, func(s *server) { s.change = proto.Reset }).address})
	if _, err := n.NodeName(t.Context()); !errors.Is(err, ErrFailed) {
		t.Errorf("got %v, want ErrFailed", err)
	}
}
