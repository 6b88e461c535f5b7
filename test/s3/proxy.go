package s3

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Fault is what becomes of one request. The zero one is served.
type Fault struct {
	// Away closes the connection before the server sees the request.
	Away bool
	// Lost closes it after the server has acted.
	Lost bool
	// Then is called once the server has acted; the answer is lost.
	Then func()
	// Slow waits so long before the server sees the request.
	Slow time.Duration
	// Cut ends the answer's body after so many bytes; 0 never.
	Cut int64
	// Status is answered in the server's place.
	Status int
	// Unconditional drops the conditions of a write.
	Unconditional bool
}

// Proxy stands in front of a server.
type Proxy struct {
	// URL is its own, CA the certificate of its authority if it speaks TLS.
	URL string
	CA  []byte

	server *httptest.Server
	closed chan struct{}
	mu     sync.Mutex
	fault  func(*http.Request) Fault
	seen   []string
}

// quiet drops what is said about connections that break: breaking them is the purpose.
var quiet = log.New(io.Discard, "", 0)

// NewProxy starts a proxy; with tls it has a certificate that no system trusts.
func NewProxy(endpoint string, tls bool) (*Proxy, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("read the endpoint: %w", err)
	}
	p := &Proxy{closed: make(chan struct{}), fault: func(*http.Request) Fault { return Fault{} }}
	back := &httputil.ReverseProxy{
		// The host is part of what is signed.
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: cut, ErrorLog: quiet,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = httptest.NewUnstartedServer(p.handle(back))
	p.server.Config.ErrorLog = quiet
	if tls {
		p.server.StartTLS()
		p.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	} else {
		p.server.Start()
	}
	p.URL = p.server.URL
	return p, nil
}

// Close stops it, with what it serves.
func (p *Proxy) Close() {
	close(p.closed)
	p.server.CloseClientConnections()
	p.server.Close()
}

// Set decides the faults from now on; nil ends them. It is called for each request, one
// at a time.
func (p *Proxy) Set(fault func(*http.Request) Fault) {
	if fault == nil {
		fault = func(*http.Request) Fault { return Fault{} }
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.seen = fault, nil
}

// Seen are the requests since faults were set: method, path and query.
func (p *Proxy) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

func (p *Proxy) decide(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r.Method+" "+r.URL.RequestURI())
	return p.fault(r)
}

func (p *Proxy) handle(back http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := p.decide(r)
		if f.Slow > 0 && !p.wait(r.Context(), f.Slow) || f.Away {
			panic(http.ErrAbortHandler)
		}
		if f.Status != 0 {
			w.WriteHeader(f.Status)
			return
		}
		if f.Unconditional && !unconditional(r) {
			panic(http.ErrAbortHandler)
		}
		if f.Lost || f.Then != nil {
			back.ServeHTTP(httptest.NewRecorder(), r)
			f.then()
			panic(http.ErrAbortHandler)
		}
		back.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), cutKey{}, f.Cut)))
	})
}

func (f Fault) then() {
	if f.Then != nil {
		f.Then()
	}
}

// wait is over early when the client or the proxy is: whoever has a body unread is not
// told of its client's end.
func (p *Proxy) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
	case <-p.closed:
	}
	return false
}

// unconditional drops the conditions, and signs anew what was signed with them.
func unconditional(r *http.Request) bool {
	r.Header.Del("If-Match")
	r.Header.Del("If-None-Match")
	r.Header.Del("Authorization")
	own := aws.Credentials{AccessKeyID: AccessKeyID, SecretAccessKey: SecretAccessKey}
	return v4.NewSigner().SignHTTP(r.Context(), own, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", Region, time.Now()) == nil
}
