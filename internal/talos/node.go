package talos

import (
	"fmt"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
)

// Node is a client of one node, with what the removal of a member needs. It is safe
// for use by many at once. It asks this node and never has it ask another one.
type Node struct {
	address  string
	bundle   *Bundle
	timeouts Timeouts
	witness  *witness
	conn     *grpc.ClientConn
	machine  machine.MachineServiceClient
	state    cosi.StateClient
}

// NewNode makes a client that connects when it is first used; an error is one of the
// options or of the bundle's authority.
func NewNode(b *Bundle, o Options) (*Node, error) {
	if o.Address == "" {
		return nil, fmt.Errorf("make a Talos client: the node has no address")
	}
	if o.Role == "" {
		o.Role = Reader
	}
	if _, err := b.certificate(o.Role); err != nil {
		return nil, err
	}
	n := &Node{address: hostPort(o.Address), bundle: b, timeouts: o.Timeouts.filled(), witness: &witness{}}
	conn, err := grpc.NewClient("dns:///"+n.address, n.dialOptions(o.Role)...)
	if err != nil {
		return nil, fmt.Errorf("make a Talos client of %s: %w", n.address, err)
	}
	behind := door{conn, removalMethods}
	n.conn, n.machine, n.state = conn, machine.NewMachineServiceClient(behind), cosi.NewStateClient(behind)
	return n, nil
}

func (n *Node) dialOptions(r Role) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(witnessed{credentials.NewTLS(n.bundle.tls(r)), n.witness}),
		grpc.WithContextDialer(n.witness.dial),
		grpc.WithStatsHandler(answers{}),
		grpc.WithDisableServiceConfig(), // a node's name has no such record
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize)),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: n.timeouts.Dial, Backoff: patience}),
	}
}

// patience lets a node that comes back be seen within seconds.
var patience = backoff.Config{BaseDelay: backoff.DefaultConfig.BaseDelay / 2, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * backoff.DefaultConfig.BaseDelay}

// Address is the node's, with its port.
func (n *Node) Address() string { return n.address }

// Close ends the connection and the calls on it.
func (n *Node) Close() error {
	if err := n.conn.Close(); err != nil {
		return fmt.Errorf("close the Talos client of %s: %w", n.address, err)
	}
	return nil
}
