package talos

import (
	"errors"
	"fmt"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
)

// client is what the clients of a node have in common: one connection behind a door,
// and the calls that each of them makes.
type client struct {
	address  string
	bundle   *Bundle
	timeouts Timeouts
	witness  *witness
	conn     *grpc.ClientConn
	machine  machine.MachineServiceClient
	state    cosi.StateClient
}

var errNoAddress = errors.New("the node has no address")

// newClient connects when it is first used, and leads to the methods alone.
func newClient(b *Bundle, o Options, methods map[string]bool) (*client, error) {
	if o.Address == "" {
		return nil, fmt.Errorf("make a Talos client: %w", errNoAddress)
	}
	if _, err := b.certificate(o.Role); err != nil {
		return nil, err
	}
	c := &client{address: hostPort(o.Address), bundle: b, timeouts: o.Timeouts.filled(), witness: &witness{}}
	conn, err := grpc.NewClient("dns:///"+c.address, c.dialOptions(o.Role)...)
	if err != nil {
		return nil, fmt.Errorf("make a Talos client of %s: %w", c.address, err)
	}
	behind := door{conn, methods}
	c.conn, c.machine, c.state = conn, machine.NewMachineServiceClient(behind), cosi.NewStateClient(behind)
	return c, nil
}

func (c *client) dialOptions(r Role) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(witnessed{credentials.NewTLS(c.bundle.tls(r)), c.witness}),
		grpc.WithContextDialer(c.witness.dial),
		grpc.WithStatsHandler(answers{}),
		grpc.WithDisableServiceConfig(), // a node's name has no such record
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize)),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: c.timeouts.Dial, Backoff: patience}),
	}
}

// patience lets a node that comes back be seen within seconds.
var patience = backoff.Config{BaseDelay: backoff.DefaultConfig.BaseDelay / 2, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * backoff.DefaultConfig.BaseDelay}

// Address is the node's, with its port.
func (c *client) Address() string { return c.address }

// Close ends the connection and the calls on it.
func (c *client) Close() error {
	if err := c.conn.Close(); err != nil {
		return fmt.Errorf("close the Talos client of %s: %w", c.address, err)
	}
	return nil
}
