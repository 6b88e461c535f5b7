package talos

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// listen is a port with nobody behind it: what connects is accepted and never served.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return l
}

func TestRefused(t *testing.T) {
	l := listen(t)
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// Leave has the longest limit, and a dead node is told from its first dial.
	n := newNode(t, loadBundle(t), Options{Address: address, Role: Admin})
	checkFailure(t, n.Leave(t.Context()), ErrUnreachable, leaving+"no answer from the node: dial tcp NODE: connect: connection refused"+checkNet, address)
}

// covers: B-10
func TestSilentHandshake(t *testing.T) {
	l := listen(t)
	n := newNode(t, loadBundle(t), Options{Address: l.Addr().String(), Role: Admin, Timeouts: Timeouts{Dial: 100 * time.Millisecond}})
	checkFailure(t, n.Leave(t.Context()), ErrUnreachable, leaving+"no answer from the node: TLS handshake: context deadline exceeded"+checkNet, l.Addr().String())
}

// The limit of a dial is the option's, and not one of gRPC.
func TestPatientDial(t *testing.T) {
	l := listen(t)
	n := newNode(t, loadBundle(t), Options{Address: l.Addr().String(), Timeouts: Timeouts{Dial: time.Minute, Read: time.Second}})
	_, err := n.Version(t.Context())
	checkFailure(t, err, ErrUnreachable, version+"no answer from the node: silent for 1s: context deadline exceeded"+checkNet, l.Addr().String())
}

// A node that comes back is reached by the same client.
func TestNodeComesBack(t *testing.T) {
	l := listen(t)
	b := loadBundle(t)
	n := newNode(t, b, Options{Address: l.Addr().String(), Timeouts: Timeouts{Dial: 100 * time.Millisecond}})
	if _, err := n.Version(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("while it is silent: %v", err)
	}
	newServer(t, b, func(s *server) { s.listener = l })
	within(t, "an answer of the node that came back", func() error {
		_, err := n.Version(t.Context())
		return err
	})
}

// What was wrong with an earlier connection is no reason for a later silence.
func TestFaultIsForgottenOnceTheNodeIsTrusted(t *testing.T) {
	b := loadBundle(t)
	own, other := served(t, authorityOf(t, b), nil), served(t, otherAuthority(t), nil)
	var right, mute atomic.Bool
	s := newServer(t, b, func(s *server) {
		s.config.Certificates = nil
		s.config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if right.Load() {
				return &own, nil
			}
			return &other, nil
		}
		s.before = func(ctx context.Context) error {
			if mute.Load() {
				return silence(ctx)
			}
			return nil
		}
	})
	n := newNode(t, b, Options{Address: s.address, Timeouts: Timeouts{Forfeit: 100 * time.Millisecond}, Role: Admin})
	if _, err := n.Version(t.Context()); !errors.Is(err, ErrWrongCA) {
		t.Fatalf("with a certificate of another authority: %v", err)
	}
	right.Store(true)
	within(t, "an answer under the right certificate", func() error {
		_, err := n.Version(t.Context())
		return err
	})
	mute.Store(true)
	if _, err := n.ForfeitLeadership(t.Context()); !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrWrongCA) {
		t.Errorf("silent after it was trusted: %v", err)
	}
}

// late is a connection that a server refuses after it was greeted.
type late struct {
	net.Conn
	err error
}

func (l late) Read([]byte) (int, error) { return 0, l.err }

func TestLateAlertIsNoted(t *testing.T) {
	for _, c := range []struct{ err, noted error }{
		{&net.OpError{Op: "remote error", Err: tls.AlertError(45)}, ErrExpired},
		{io.EOF, nil},
	} {
		w := &witness{}
		if _, err := (&watched{Conn: late{err: c.err}, witness: w}).Read(make([]byte, 1)); err != c.err {
			t.Errorf("read: %v, want %v", err, c.err)
		}
		if got := certificateKind(w.last()); got != c.noted {
			t.Errorf("%v: %v is noted, want %v", c.err, got, c.noted)
		}
	}
}

func TestCallerEndsIt(t *testing.T) {
	b := loadBundle(t)
	begun := make(chan struct{})
	s := newServer(t, b, func(s *server) {
		s.before = func(ctx context.Context) error { begun <- struct{}{}; return silence(ctx) }
	})
	n := newNode(t, b, Options{Address: s.address})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := n.Version(ctx)
	if want := "read the Talos version at " + s.address + ": context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	go func() { <-begun; _ = n.Close() }() // the call says how it went
	_, err = n.Version(t.Context())
	if want := "read the Talos version at " + s.address + ": use of closed network connection"; !errors.Is(err, net.ErrClosed) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNearerDeadlineOfTheCaller(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, func(s *server) { s.before = silence })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := newNode(t, b, Options{Address: s.address}).Version(ctx)
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), DefaultRead.String()) {
		t.Errorf("got %v, want ErrUnreachable after the caller's time", err)
	}
}

// within waits for what has no event of its own.
func within(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("waited a minute for %s: %v", what, err)
		case <-tick.C:
		}
	}
}
