package talos

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"
)

// witness keeps why there is no connection, in its own type: gRPC turns it into a
// text.
type witness struct {
	mu    sync.Mutex
	fault error
}

func (w *witness) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = err
}

func (w *witness) last() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// dial connects without a proxy: a node is reached as it is. The kernel's probes
// tell of a machine that is gone in the middle of a long call; gRPC's own would be
// taken for abuse by the node.
func (w *witness) dial(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
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
		c.witness.note(err)
		return nil, nil, err
	}
	return &watched{Conn: conn, witness: c.witness}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (c witnessed) Clone() credentials.TransportCredentials {
	return witnessed{c.TransportCredentials.Clone(), c.witness}
}

// watched notes the alert by which a server of TLS 1.3 refuses the client's
// certificate: it comes after the client's handshake. The first data that the server
// sends ends every doubt.
type watched struct {
	net.Conn
	witness *witness
	trusted atomic.Bool
}

// Read implements net.Conn.
func (c *watched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.trusted.CompareAndSwap(false, true) {
		c.witness.note(nil)
	}
	if alertKind(err) != nil {
		c.witness.note(err)
	}
	return n, err
}

type answerKey struct{}

// withAnswer makes answers note in *answered that the server ended a call itself.
func withAnswer(ctx context.Context, answered *atomic.Bool) context.Context {
	return context.WithValue(ctx, answerKey{}, answered)
}

// answers is a stats.Handler that tells a status of the server from one that the
// client made up.
type answers struct{}

func (answers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (answers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (answers) HandleConn(context.Context, stats.ConnStats)                       {}

// HandleRPC implements stats.Handler.
func (answers) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	if answered, ok := ctx.Value(answerKey{}).(*atomic.Bool); ok {
		answered.Store(true)
	}
}
