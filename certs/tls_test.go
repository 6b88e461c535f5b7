package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// serveTLS answers with the keeper's leaf until the test ends.
func serveTLS(t *testing.T, k *Keeper) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: k.GetCertificate, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_ = conn.(*tls.Conn).Handshake() // the client reports it
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// shake is an API server's handshake; it trusts the configuration and returns
// the leaf that it met.
func shake(t *testing.T, w *world, clock *clocktesting.FakeClock, address, name string) (*x509.Certificate, error) {
	t.Helper()
	w.mu.Lock()
	roots := poolOf(LiveOf(w.config).Trusted())
	w.mu.Unlock()
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name, Time: clock.Now}}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// A forced rotation, seen by a client of the webhook: every handshake succeeds,
// and at the end another authority signs.
func TestRotationOverTLS(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	w := newWorld(1, 0)
	k := keeperIn(t, w, clock, func(o *Options) { o.Found = FoundCA })
	if _, err := k.GetCertificate(nil); !errors.Is(err, ErrNoLeaf) {
		t.Errorf("certificate before the first look: error = %v, want %v", err, ErrNoLeaf)
	}
	if _, err := k.Roots(); !errors.Is(err, ErrNoRoots) {
		t.Errorf("roots before the first look: error = %v, want %v", err, ErrNoRoots)
	}
	sync1(t, k)
	address := serveTLS(t, k)
	first, err := shake(t, w, clock, address, "gate.example.com")
	if err != nil {
		t.Fatalf("first handshake: %v", err)
	}
	clock.Step(2 * time.Hour) // the grace of the first authority
	sync1(t, k)
	w.secret.Annotations[AnnotationRotate] = "please"

	issuers := map[string]bool{}
	for range 60 {
		sync1(t, k)
		leaf, err := shake(t, w, clock, address, "gate.example.com")
		if err != nil {
			t.Fatalf("handshake at %s: %v", clock.Now(), err)
		}
		issuers[leaf.Issuer.CommonName] = true
		clock.Step(time.Hour)
	}
	if len(issuers) != 2 || !issuers[first.Issuer.CommonName] {
		t.Errorf("issuers = %v, want the first and one more", issuers)
	}
	if _, err := shake(t, w, clock, address, "127.0.0.1"); err != nil {
		t.Errorf("handshake by address: %v", err)
	}
	a := AuthorityOf(w.secret, clock.Now())
	if got := LiveOf(w.config); a.Next != nil || len(a.Previous) != 0 || !got.is(set(a.Current)) {
		t.Errorf("after the rotation: next %v, %d previous, bundle %v; want the current one alone", a.Next, len(a.Previous), got)
	}
}
