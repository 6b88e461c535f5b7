package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// Path is where reviews are answered.
const Path = "/gate"

// Defaults of ServerOptions, but for the drain delay, which is the manager's.
const (
	DefaultAddress = ":9443"
	// DefaultDrainDelay is longer than an endpoint's removal takes to reach every
	// API server.
	DefaultDrainDelay = 15 * time.Second
	// DefaultShutdownTimeout is longer than any request may last.
	DefaultShutdownTimeout = 10 * time.Second
)

// The server's time limits. A review is small and its sender close by, so a slow
// one is no API server. Idle connections are kept for longer than API servers
// keep theirs (90 s): the side that closes first should be the one that knows
// whether it is about to send.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 10 * time.Second
	idleTimeout       = 3 * time.Minute
	handshakeTimeout  = 2 * time.Second
	maxHeaderBytes    = 64 << 10
)

// Why the server is not ready.
var (
	ErrNotServing = errors.New("the webhook does not serve yet")
	ErrDraining   = errors.New("the webhook drains before it stops")
)

// ServerOptions are what a Server is made of.
type ServerOptions struct {
	// Address is host:port; DefaultAddress if empty. Listener replaces it.
	Address  string
	Listener net.Listener
	// Gate answers at Path.
	Gate http.Handler
	// TLS gives the serving certificate, by GetCertificate.
	TLS *tls.Config
	// ServerName is the name under which the API server calls, and Roots the
	// certificate authorities that it trusts at this moment.
	ServerName string
	Roots      func() (*x509.CertPool, error)
	// DrainDelay is how long the server goes on after it was told to stop, 0 not at
	// all; ShutdownTimeout, what running requests get after that.
	DrainDelay      time.Duration
	ShutdownTimeout time.Duration
	// Clock is the real one if nil.
	Clock clock.Clock
	Log   logr.Logger
}

// Server serves the gate over TLS, on every replica: it needs no leader.
type Server struct {
	o        ServerOptions
	http     *http.Server
	address  atomic.Pointer[net.TCPAddr]
	draining atomic.Bool
}

// NewServer makes a server. It fails with ErrIncomplete where a part is missing.
func NewServer(o ServerOptions) (*Server, error) {
	if o.Gate == nil || o.TLS == nil || o.TLS.GetCertificate == nil || o.ServerName == "" || o.Roots == nil {
		return nil, fmt.Errorf("%w: a server needs Gate, TLS with GetCertificate, ServerName and Roots", ErrIncomplete)
	}
	s := &Server{o: withDefaults(o)}
	mux := http.NewServeMux()
	mux.Handle(Path, s.lastCall(o.Gate))
	s.http = &http.Server{
		Handler: mux, TLSConfig: serving(o.TLS), Protocols: protocols(),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(o.Log), slog.LevelDebug),
	}
	return s, nil
}

func withDefaults(o ServerOptions) ServerOptions {
	if o.Address == "" {
		o.Address = DefaultAddress
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = DefaultShutdownTimeout
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

func serving(base *tls.Config) *tls.Config {
	c := base.Clone()
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return p
}

// NeedLeaderElection tells the manager that every replica serves.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until ctx ends, and then drains.
func (s *Server) Start(ctx context.Context) error {
	listener, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("listen for admission reviews: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.http.ServeTLS(listener, "", "") }()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return errors.Join(fmt.Errorf("serve admission reviews: %s is no TCP address", listener.Addr()), s.http.Close())
	}
	s.address.Store(address)
	select {
	case err := <-ended:
		return fmt.Errorf("serve admission reviews: %w", err)
	case <-ctx.Done():
		return s.drain(ended)
	}
}

func (s *Server) listen(ctx context.Context) (net.Listener, error) {
	if s.o.Listener != nil {
		return s.o.Listener, nil
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.Address)
}
