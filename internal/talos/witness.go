package talos

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

// witness keeps why there is no connection, in its own type: gRPC turns it into a
// text.
type witness struct {
	mu    sync.Mutex
	fault error
}

func (w *witness) note(fault error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

func (w *witness) last() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// probes are the kernel's: they tell within 30 s of a machine that is gone in the
// middle of a long call. A gRPC server takes gRPC's own for abuse.
var probes = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// dial goes past any proxy: a node is reached as it is.
func (w *witness) dial(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: probes}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		w.note(err)
	}
	return conn, err
}

// witnessed are credentials that note how a handshake ends.
type witnessed struct {
	credentials.TransportCredentials
	witness *witness
}

// ClientHandshake implements credentials.TransportCredentials.
func (c witnessed) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		c.witness.note(fmt.Errorf("TLS handshake: %w", err))
		return nil, nil, err
	}
	w := &watched{Conn: conn, witness: c.witness}
	if err := w.greet(ctx); err != nil {
		c.witness.note(fmt.Errorf("TLS handshake: %w", err))
		_ = conn.Close() // the fault says more than its end
		return nil, nil, err
	}
	return w, info, nil
}

// Clone implements credentials.TransportCredentials.
func (c witnessed) Clone() credentials.TransportCredentials {
	return witnessed{c.TransportCredentials.Clone(), c.witness}
}
