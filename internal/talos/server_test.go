package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	cosiserver "github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// server is a small machine API over real connections.
type server struct {
	address string
	config  *tls.Config
	state   state.CoreState
	// before runs before each call, and may fail, wait or cut.
	before func(ctx context.Context) error
	// halfway runs in the middle of a stream; io.EOF ends it there as if all were well.
	halfway func(ctx context.Context) error
	// change changes each answer.
	change func(proto.Message)
	// played is what a restore sees and does.
	played *played

	mu       sync.Mutex
	conns    []net.Conn
	calls    map[string]time.Duration
	wants    map[string]role.Set
	listener net.Listener
}

// newServer is a control plane of the bundle's cluster.
func newServer(t testing.TB, b *Bundle, change func(*server)) *server {
	t.Helper()
	authority := authorityOf(t, b)
	s := &server{
		config: &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool(authority), Certificates: []tls.Certificate{served(t, authority, nil)}},
		state:  namespaced.NewState(inmem.Build), calls: map[string]time.Duration{}, wants: roles(), played: newPlayed(),
	}
	s.fill(t, b)
	if change != nil {
		change(s)
	}
	s.partition(t)
	s.serve(t)
	return s
}

func (s *server) serve(t testing.TB) {
	t.Helper()
	if s.listener == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.listener = listener
	}
	s.address = s.listener.Addr().String()
	g := grpc.NewServer(grpc.Creds(credentials.NewTLS(s.config)), grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream))
	machine.RegisterMachineServiceServer(g, machineAPI{halfway: s.halfway, played: s.played})
	cosi.RegisterStateServer(g, cosiserver.NewState(s.state))
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(s) }) // it ends by Stop
	t.Cleanup(func() { g.Stop(); serving.Wait() })
}

// Accept, Close and Addr implement net.Listener, which keeps what it accepts.
func (s *server) Accept() (net.Conn, error) {
	conn, err := s.listener.Accept()
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns = append(s.conns, conn)
	}
	return conn, err
}

func (s *server) Close() error   { return s.listener.Close() }
func (s *server) Addr() net.Addr { return s.listener.Addr() }

// cut ends all connections, as a node does that loses its power.
func (s *server) cut(ctx context.Context) error {
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close() // a second time it fails, and is as good
	}
	s.mu.Unlock()
	return silence(ctx)
}

// silence is a server that never answers.
func silence(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s *server) unary(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := s.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	out, err := handle(ctx, in)
	if err == nil && s.change != nil {
		s.change(out.(proto.Message))
	}
	return out, err
}

func (s *server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := s.admit(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handle(srv, stream)
}

// admit notes how long the client would wait, and asks for a role as Talos does.
func (s *server) admit(ctx context.Context, method string) error {
	end, _ := ctx.Deadline()
	s.mu.Lock()
	s.calls[method] = time.Until(end)
	s.mu.Unlock()
	from, _ := peer.FromContext(ctx)
	held, _ := role.Parse(from.AuthInfo.(credentials.TLSInfo).State.PeerCertificates[0].Subject.Organization)
	if !held.IncludesAny(s.wants[method]) {
		return status.Error(codes.PermissionDenied, "not authorized")
	}
	if s.before != nil {
		return s.before(ctx)
	}
	return nil
}

// called are the methods that were called, with the time that the client left.
func (s *server) called() map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

func servedBy(t testing.TB, by tls.Certificate, change func(*x509.Certificate)) func(*server) {
	return func(s *server) { s.config.Certificates = []tls.Certificate{served(t, by, change)} }
}

// newNode is a client of an address that is closed at the end.
func newNode(t testing.TB, b *Bundle, o Options) *Node {
	t.Helper()
	n, err := NewNode(b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() }) // a test may have closed it
	return n
}

func newRestorer(t testing.TB, b *Bundle, o Options) *Restorer {
	t.Helper()
	r, err := NewRestorer(b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // a test may have closed it
	return r
}
