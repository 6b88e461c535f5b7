package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// serviceProxy stands where the nodes' service network is elsewhere: the API
// server reaches Services through it, so a webhook configuration names its
// Service as in production, and the certificate is checked against that name.
// It is the API server's own way out (an egress selector), not a patch of it.
type serviceProxy struct {
	server *http.Server
	socket string

	mu       sync.Mutex
	client   kubernetes.Interface
	backends map[string][]string // by namespace/name
	turn     int
}

// dialTimeout is how long a backend may take to accept: all are on this machine.
const dialTimeout = 2 * time.Second

// startServiceProxy listens on a Unix socket: kube-apiserver dies on an egress
// proxy over TCP that has no TLS.
func startServiceProxy(socket string) (*serviceProxy, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen for the API server's calls to Services (the path may be too long for a socket): %w", err)
	}
	p := &serviceProxy{socket: socket, backends: map[string][]string{}}
	p.server = &http.Server{Handler: http.HandlerFunc(p.connect), ReadHeaderTimeout: dialTimeout}
	go p.server.Serve(listener) //nolint:errcheck // it ends with ErrServerClosed
	return p, nil
}

func (p *serviceProxy) stop() error { return p.server.Close() }

func (p *serviceProxy) follow(client kubernetes.Interface) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = client
}

func (p *serviceProxy) egressConfiguration() string {
	return `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: ` + p.socket + "\n"
}

// SetBackends says which addresses (host:port) stand behind a Service, in the
// place of those that were set before; new connections take them in turn. None
// at all is a Service without endpoints: connections are refused. Connections
// that exist stay, as they do with kube-proxy.
func (c *Cluster) SetBackends(namespace, service string, addresses ...string) {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	c.proxy.backends[namespace+"/"+service] = addresses
}

// connect answers HTTP CONNECT by a tunnel to a backend.
func (p *serviceProxy) connect(w http.ResponseWriter, r *http.Request) {
	backend, err := p.dial(r.Context(), r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer backend.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	tunnel(client, buffered, backend)
}

func (p *serviceProxy) dial(ctx context.Context, address string) (net.Conn, error) {
	service, err := p.serviceAt(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("find the Service at %s: %w", address, err)
	}
	target, err := p.next(service)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", service, err)
	}
	return conn, nil
}

// errNoBackends is what a Service without endpoints answers.
var errNoBackends = errors.New("no backends")

func (p *serviceProxy) next(service string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	backends := p.backends[service]
	if len(backends) == 0 {
		return "", fmt.Errorf("service %s: %w", service, errNoBackends)
	}
	p.turn++
	return backends[p.turn%len(backends)], nil
}

// serviceAt answers namespace/name of the Service with this cluster IP.
func (p *serviceProxy) serviceAt(ctx context.Context, address string) (string, error) {
	ip, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	client := p.client
	p.mu.Unlock()
	if client == nil {
		return "", errors.New("the control plane is still starting")
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	found, err := client.CoreV1().Services("").List(ctx, metav1.ListOptions{FieldSelector: "spec.clusterIP=" + ip})
	if err != nil {
		return "", err
	}
	if len(found.Items) != 1 {
		return "", fmt.Errorf("%d Services have this address", len(found.Items))
	}
	return found.Items[0].Namespace + "/" + found.Items[0].Name, nil
}

// tunnel copies both ways until either side ends.
func tunnel(client net.Conn, buffered io.Reader, backend net.Conn) {
	ended := make(chan struct{}, 2)
	pipe := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // how a connection ends is its two ends' business
		ended <- struct{}{}
	}
	go pipe(backend, buffered)
	go pipe(client, backend)
	<-ended
}
