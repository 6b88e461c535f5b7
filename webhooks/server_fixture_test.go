package webhooks

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

const serviceName = "quorate-webhook.quorate-system.svc"

// patience is how long a test waits for what must happen soon.
const patience = 20 * time.Second

// authority signs serving certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	return &authority{parse(t, template, template, key, key), key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func parse(t *testing.T, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a *authority) sign(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	key := newKey(t)
	cert := parse(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.cert, key, a.key)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// held is a clock whose timers wait for the test.
type held struct {
	clock.RealClock
	waiting chan time.Duration
	release chan time.Time
}

func (h held) After(d time.Duration) <-chan time.Time {
	h.waiting <- d
	return h.release
}

// running is a server under test.
type running struct {
	*Server
	ca    *authority
	cert  atomic.Pointer[tls.Certificate]
	roots atomic.Pointer[x509.CertPool]
	clock held
	gate  http.HandlerFunc
	stop  context.CancelFunc
	ended chan error
	addr  string
}

var errNoCertificate = errors.New("no certificate yet")

// newRunning makes a server that is not started; adjust changes its options.
func newRunning(t *testing.T, adjust func(*ServerOptions)) *running {
	t.Helper()
	r := &running{ca: newAuthority(t), clock: held{waiting: make(chan time.Duration, 1), release: make(chan time.Time)}, ended: make(chan error, 1)}
	r.gate = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answered") }
	r.cert.Store(r.ca.sign(t, serviceName))
	r.roots.Store(r.ca.pool())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = listener.Addr().String()
	o := ServerOptions{
		Listener: listener, ServerName: serviceName, Clock: r.clock, Log: logr.Discard(),
		Gate: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.gate(w, q) }),
		TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if c := r.cert.Load(); c != nil {
				return c, nil
			}
			return nil, errNoCertificate
		}},
		Roots: func() (*x509.CertPool, error) { return r.roots.Load(), nil },
	}
	if adjust != nil {
		adjust(&o)
	}
	if r.Server, err = NewServer(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// start runs the server until the test ends, and waits until it has an address.
func (r *running) start(t *testing.T) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.ended <- r.Start(ctx) }()
	t.Cleanup(func() { _ = r.http.Close() })
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return r.address.Load() != nil, nil
	})
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	return r
}

func (r *running) ready() error {
	return r.Ready(httptest.NewRequest(http.MethodGet, "/readyz", nil))
}

// client is an API server's client; maxVersion 0 leaves the TLS version open.
func (r *running) client(t *testing.T, http2 bool, maxVersion uint16) *http.Client {
	t.Helper()
	p := new(http.Protocols)
	p.SetHTTP1(!http2)
	p.SetHTTP2(http2)
	transport := &http.Transport{Protocols: p, TLSClientConfig: &tls.Config{RootCAs: r.ca.pool(), ServerName: serviceName, MinVersion: tls.VersionTLS10, MaxVersion: maxVersion}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// soon is what arrives on the channel before patience ends.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("not reached")
	}
}
