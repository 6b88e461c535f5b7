package talos

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// Options say which node, as whom, and how long each thing may take.
type Options struct {
	// Address is a host or host:port; without a port it is Talos' own, 50000.
	Address string
	// Role is the client's default if empty.
	Role Role
	// Timeouts are the default ones where 0.
	Timeouts Timeouts
}

// Timeouts bound each thing by itself; a caller's nearer deadline goes first.
type Timeouts struct {
	// Dial is for a connection with its handshake.
	Dial time.Duration
	// Read is for a call that changes nothing.
	Read time.Duration
	// Forfeit is for handing over leadership.
	Forfeit time.Duration
	// Remove is for the removal of a member by its ID.
	Remove time.Duration
	// Leave is for a member's leaving by itself.
	Leave time.Duration
	// Reset is for a reset's beginning.
	Reset time.Duration
	// Bootstrap is for a bootstrap's beginning.
	Bootstrap time.Duration
	// Restart is for the restart of a service.
	Restart time.Duration
	// Transfer is for the whole of a snapshot, to the node or from it.
	Transfer time.Duration
	// Stall is for one message of it.
	Stall time.Duration
}

const (
	// DefaultDial is for a node in the same site.
	DefaultDial = 5 * time.Second
	// DefaultRead is longer than etcd's own limit (7 s) and Talos' dial to it (5 s),
	// so that the node says what was wrong.
	DefaultRead = 15 * time.Second
	// DefaultForfeit has room for an election. The node would wait 3 min for its own
	// member ID, which it lacks only while it is ill, and then it does not lead.
	DefaultForfeit = 30 * time.Second
	// DefaultRemove has room for two of etcd's own limits.
	DefaultRemove = 30 * time.Second
	// DefaultLeave is longer than LeaveNeeds, with room to stop etcd and to delete
	// its data.
	DefaultLeave = 10 * time.Minute
	// LeaveNeeds is how long a node may take before it stops etcd: up to 3 min until
	// it has its own member ID, up to 5 min of attempts (Talos 1.13,
	// internal/pkg/etcd). A client that gives up in between leaves the data behind,
	// and an etcd that crashes with it for ever.
	LeaveNeeds = 8 * time.Minute
	// DefaultReset has room for a busy node: it answers before the reset runs.
	DefaultReset = 30 * time.Second
	// DefaultBootstrap has room for Talos' wait for the time (5 s) and for the end of
	// the etcd that waits to join.
	DefaultBootstrap = time.Minute
	// DefaultRestart has room for the end of a kubelet that is killed after 30 s.
	DefaultRestart = 2 * time.Minute
	// DefaultTransfer is 8 GiB, the most that etcd recommends, at 2.3 MiB/s.
	DefaultTransfer = time.Hour
	// DefaultStall has room for a disk that writes back what it was sent.
	DefaultStall = time.Minute
)

func (t Timeouts) filled() Timeouts {
	fill(&t.Dial, DefaultDial)
	fill(&t.Read, DefaultRead)
	fill(&t.Forfeit, DefaultForfeit)
	fill(&t.Remove, DefaultRemove)
	fill(&t.Leave, DefaultLeave)
	fill(&t.Reset, DefaultReset)
	fill(&t.Bootstrap, DefaultBootstrap)
	fill(&t.Restart, DefaultRestart)
	fill(&t.Transfer, DefaultTransfer)
	fill(&t.Stall, DefaultStall)
	return t
}

func fill(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// hostPort adds Talos' port to an address that has none.
func hostPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(constants.ApidPort))
}
