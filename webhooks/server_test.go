package webhooks

import (
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// fetch posts to the server and gives the answer with its body.
func fetch(t *testing.T, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	response, err := c.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestServes(t *testing.T) {
	r := newRunning(t, nil).start(t)
	for _, tt := range []struct {
		name  string
		http2 bool
		proto string
	}{{"HTTP/1.1, as an API server speaks to a Service", false, "HTTP/1.1"}, {"HTTP/2", true, "HTTP/2.0"}} {
		t.Run(tt.name, func(t *testing.T) {
			response, body := fetch(t, r.client(t, tt.http2, 0), "https://"+r.addr+Path)
			if response.Proto != tt.proto || body != "answered" || response.Close {
				t.Errorf("%s, close=%t: %q", response.Proto, response.Close, body)
			}
		})
	}
	if response, _ := fetch(t, r.client(t, false, 0), "https://"+r.addr+"/metrics"); response.StatusCode != http.StatusNotFound {
		t.Errorf("another path: HTTP %d", response.StatusCode)
	}
	if r.NeedLeaderElection() {
		t.Error("it serves on the leader only")
	}
}

// A sender of too much hears why, and not only that its connection broke.
func TestTooLargeOverTheWire(t *testing.T) {
	f := newFixture(t)
	r := newRunning(t, func(o *ServerOptions) { o.Gate = f.gate(t) }).start(t)
	for name, body := range map[string]io.Reader{
		"announced": strings.NewReader(strings.Repeat(" ", MaxBody+1<<20)),
		"not said":  io.MultiReader(strings.NewReader(strings.Repeat(" ", MaxBody+1<<20))),
	} {
		response, err := r.client(t, false, 0).Post("https://"+r.addr+Path, "application/json", body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: HTTP %d", name, response.StatusCode)
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	r := newRunning(t, nil).start(t)
	if response, _ := fetch(t, r.client(t, false, 0x0303), "https://"+r.addr+Path); response.StatusCode != http.StatusOK {
		t.Errorf("TLS 1.2: HTTP %d", response.StatusCode)
	}
	response, err := r.client(t, false, 0x0302).Post("https://"+r.addr+Path, "application/json", strings.NewReader("{}"))
	if err == nil {
		response.Body.Close()
		t.Error("TLS 1.1 is accepted")
	}
}

// Ready means that an API server would succeed now, with today's certificate
// and today's authorities.
func TestReady(t *testing.T) {
	r := newRunning(t, nil)
	if err := r.ready(); !errors.Is(err, ErrNotServing) {
		t.Errorf("before the start: %v", err)
	}
	r.start(t)
	if err := r.ready(); err != nil {
		t.Errorf("while serving: %v", err)
	}
	r.cert.Store(nil)
	if err := r.ready(); err == nil || !strings.HasPrefix(err.Error(), "shake hands with the webhook as "+serviceName+": ") {
		t.Errorf("without a certificate: %v", err)
	}
	other := newAuthority(t)
	r.cert.Store(other.sign(t, serviceName))
	if unknown := (x509.UnknownAuthorityError{}); !errors.As(r.ready(), &unknown) {
		t.Errorf("with a certificate that nobody trusts: %v", r.ready())
	}
	r.roots.Store(other.pool())
	if err := r.ready(); err != nil {
		t.Errorf("after the authorities changed: %v", err)
	}
	r.cert.Store(other.sign(t, "another.quorate-system.svc"))
	if name := (x509.HostnameError{}); !errors.As(r.ready(), &name) {
		t.Errorf("with another name's certificate: %v", r.ready())
	}
	r.o.Roots = func() (*x509.CertPool, error) { return nil, errNoCertificate }
	if err := r.ready(); !errors.Is(err, errNoCertificate) {
		t.Errorf("without authorities: %v", err)
	}
}

func TestDialable(t *testing.T) {
	for _, tt := range []struct{ ip, want string }{
		{"0.0.0.0", "127.0.0.1:9443"}, {"::", "127.0.0.1:9443 [::1]:9443"}, {"127.0.3.1", "127.0.3.1:9443"}, {"fd00::7", "[fd00::7]:9443"},
	} {
		if got := strings.Join(dialable(&net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 9443}), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.ip, got, tt.want)
		}
	}
}

// Where every address is listened at, one that answers is enough: a host may have
// no IPv6, and another no IPv4.
func TestReadyByEitherLoopback(t *testing.T) {
	r := newRunning(t, nil).start(t)
	own := r.address.Load()
	r.address.Store(&net.TCPAddr{IP: net.IPv6unspecified, Port: own.Port})
	if err := r.ready(); err != nil {
		t.Errorf("without IPv6: %v", err)
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	if err := r.anyHandshake(t.Context(), []string{gone.Addr().String(), own.String()}); err != nil {
		t.Errorf("the first address fails, the second answers: %v", err)
	}
	if err := r.anyHandshake(t.Context(), []string{gone.Addr().String(), gone.Addr().String()}); err == nil || strings.Count(err.Error(), "shake hands with the webhook as "+serviceName+": ") != 2 {
		t.Errorf("both fail: %v", err)
	}
}

// A listener that breaks ends the server with an error, draining or not.
func TestBrokenListener(t *testing.T) {
	r := newRunning(t, nil).start(t)
	_ = r.o.Listener.Close()
	if err := soon(t, "the server to end", r.ended); !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
	r = newRunning(t, nil).start(t)
	r.stop()
	soon(t, "the drain to begin", r.clock.waiting)
	_ = r.o.Listener.Close()
	if err := soon(t, "the server to end", r.ended); !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended while draining with %v", err)
	}
}

func TestAddressInUse(t *testing.T) {
	taken := newRunning(t, nil)
	second := newRunning(t, func(o *ServerOptions) { o.Listener, o.Address = nil, taken.addr })
	err := second.Start(t.Context())
	if op := (*net.OpError)(nil); !errors.As(err, &op) || !strings.HasPrefix(err.Error(), "listen for admission reviews: ") {
		t.Errorf("got %v", err)
	}
}

func TestIncompleteServer(t *testing.T) {
	if _, err := NewServer(ServerOptions{}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("got %v", err)
	}
}

func TestServerDefaults(t *testing.T) {
	o := withDefaults(ServerOptions{})
	if o.Address != ":9443" || o.DrainDelay != 0 || o.ShutdownTimeout != 10*time.Second || o.Clock == nil {
		t.Errorf("got %+v", o)
	}
}
