package talos

import (
	"os"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc/codes"
)

// ephemeral is the reset that keeps configuration and identity.
func ephemeral(graceful bool) *machine.ResetRequest {
	return &machine.ResetRequest{Graceful: graceful, Reboot: true, SystemPartitionsToWipe: []*machine.ResetPartitionSpec{
		{Label: "EPHEMERAL", Wipe: true},
	}}
}

// resetEphemeral resets and waits for the next boot.
func resetEphemeral(t *testing.T, n *Node, graceful bool) error {
	t.Helper()
	before := n.BootID()
	err := admin(t, n).ResetGeneric(within(t, 10*time.Second), ephemeral(graceful))
	if err == nil {
		rebooted(t, n, before)
	}
	return err
}

// mark writes a file to each partition.
func mark(t *testing.T, n *Node) {
	t.Helper()
	for _, label := range partitions {
		must(t, os.WriteFile(n.DiskPath(label, "mark"), nil, 0o600))
	}
}

func marked(n *Node) (out string) {
	for _, label := range partitions {
		if _, err := os.Stat(n.DiskPath(label, "mark")); err == nil {
			out += label + " "
		}
	}
	return out
}

// TestReboot: the API refuses meanwhile, the boot ID is new, all partitions and the
// member are as they were.
func TestReboot(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-2")
	mark(t, n)
	member, err := n.MemberID(t.Context())
	must(t, err)
	before, c := n.BootID(), admin(t, n)
	n.SetTiming(func(timing *Timing) { timing.Reboot = 2 * time.Second })
	defer n.SetTiming(func(timing *Timing) { timing.Reboot = 300 * time.Millisecond })
	must(t, c.Reboot(within(t, 10*time.Second)))
	until(t, "the API to refuse", func() bool {
		_, err := c.Version(within(t, quick))
		return client.StatusCode(err) == codes.Unavailable
	})
	rebooted(t, n, before)
	whole(t, shared)
	if after, err := n.MemberID(t.Context()); err != nil || after != member {
		t.Errorf("the member is %x, was %x: %v", after, member, err)
	}
	if got := marked(n); got != "EPHEMERAL STATE META " {
		t.Errorf("left are %s", got)
	}
}

// TestResetNotGraceful: the member stays listed while the node is away, EPHEMERAL
// alone is wiped, and the node joins as a new member.
func TestResetNotGraceful(t *testing.T) { testReset(t, false, "cp-1 cp-2 cp-3") }

// TestResetGraceful: the node leaves first, and joins all the same after its reboot.
func TestResetGraceful(t *testing.T) { testReset(t, true, "cp-1 cp-2") }

func testReset(t *testing.T, graceful bool, meanwhile string) {
	whole(t, shared)
	n := shared.Node("cp-3")
	mark(t, n)
	before, member := n.BootID(), find(listed(t, shared.Node("cp-1")), "cp-3").Id
	n.SetTiming(func(timing *Timing) { timing.Reboot = 3 * time.Second })
	defer n.SetTiming(func(timing *Timing) { timing.Reboot = 300 * time.Millisecond })
	answer, err := admin(t, n).ResetGenericWithResponse(within(t, 10*time.Second), ephemeral(graceful))
	must(t, err)
	if answer.Messages[0].ActorId == "" {
		t.Errorf("the answer has no actor ID: %v", answer)
	}
	until(t, "cp-3 to be away", func() bool { return n.BootID() == "" })
	if got := names(listed(t, shared.Node("cp-1"))); got != meanwhile {
		t.Errorf("meanwhile the members are %s", got)
	}
	rebooted(t, n, before)
	if got := marked(n); got != "STATE META " {
		t.Errorf("left are %s", got)
	}
	whole(t, shared)
	list := listed(t, shared.Node("cp-1"))
	if names(list) != "cp-1 cp-2 cp-3" || find(list, "cp-3").Id == member {
		t.Errorf("the members are %v", list)
	}
}

// TestResetValidates: what is wrong with a request is answered at once.
func TestResetValidates(t *testing.T) {
	c := admin(t, shared.Node("worker-1"))
	err := c.ResetGeneric(within(t, 10*time.Second), &machine.ResetRequest{SystemPartitionsToWipe: []*machine.ResetPartitionSpec{{Label: "DATA", Wipe: true}}})
	answers(t, err, codes.Unknown, `failed to get volume status with label "DATA": resource VolumeStatuses.block.talos.dev(runtime/DATA@undefined) doesn't exist`)
	err = c.ResetGeneric(within(t, 10*time.Second), &machine.ResetRequest{
		Mode: machine.ResetRequest_USER_DISKS, SystemPartitionsToWipe: []*machine.ResetPartitionSpec{{Label: "EPHEMERAL", Wipe: true}},
	})
	answers(t, err, codes.Unknown, "reset failed: invalid input, wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter")
}
