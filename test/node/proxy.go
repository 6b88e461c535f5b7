package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// proxy plays kube-proxy: a Service with a cluster IP has an address of the loopback,
// and as long as it has a ready endpoint, its ports are open there.
type proxy struct {
	k *Kubelets

	mu        sync.Mutex
	addresses map[types.UID]string
	open      map[door]net.Listener
	relays    sync.WaitGroup
}

// door is one port of a Service.
type door struct {
	service types.NamespacedName
	port    string // its name
	address string // host:port of the loopback
}

func newProxy(k *Kubelets) *proxy {
	return &proxy{k: k, addresses: map[types.UID]string{}, open: map[door]net.Listener{}}
}

// address is where the Service is reached, the same one for its whole life.
func (p *proxy) address(s *corev1.Service) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addresses[s.UID] == "" {
		p.addresses[s.UID] = p.k.block.nextService()
	}
	return p.addresses[s.UID]
}

// follow opens and shuts ports until the context ends.
func (p *proxy) follow(ctx context.Context) {
	p.k.bell.until(ctx, func() bool {
		wanted := map[door]bool{}
		for _, s := range list(p.k.world().services.List) {
			p.doors(s, wanted)
		}
		p.set(wanted)
		return false
	})
}

// doors adds the ports of a Service that lead somewhere. The API server's own Service
// has no pods.
func (p *proxy) doors(s *corev1.Service, wanted map[door]bool) {
	if s.Spec.ClusterIP == corev1.ClusterIPNone || len(s.Spec.Selector) == 0 {
		return
	}
	for _, port := range s.Spec.Ports {
		d := door{
			service: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, port: port.Name,
			address: net.JoinHostPort(p.address(s), strconv.Itoa(int(port.Port))),
		}
		if port.Protocol == corev1.ProtocolTCP && len(p.endpoints(d)) > 0 {
			wanted[d] = true
		}
	}
}

func (p *proxy) set(wanted map[door]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for d, listener := range p.open {
		if !wanted[d] {
			_ = listener.Close()
			delete(p.open, d)
		}
	}
	for d := range wanted {
		if p.open[d] != nil {
			continue
		}
		listener, err := net.Listen("tcp", d.address)
		if err != nil {
			p.k.complain(fmt.Errorf("open a port of Service %s: %w", d.service, err))
			continue
		}
		p.open[d] = listener
		p.relays.Go(func() { p.accept(d, listener) })
	}
}

// endpoints are those that are ready, at the loopback.
func (p *proxy) endpoints(d door) (out []string) {
	for _, s := range p.k.world().slicesOf(d.service.Namespace, d.service.Name) {
		for _, port := range s.Ports {
			if port.Port == nil || port.Name == nil || *port.Name != d.port {
				continue
			}
			for _, e := range s.Endpoints {
				if isReady(e) && len(e.Addresses) > 0 {
					out = append(out, net.JoinHostPort(loopback(e.Addresses[0]), strconv.Itoa(int(*port.Port))))
				}
			}
		}
	}
	return out
}

func (p *proxy) accept(d door, listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return // it was shut
		}
		p.relays.Go(func() { p.relay(d, connection.(*net.TCPConn)) })
	}
}

// relay joins a connection with an endpoint taken by chance, for as long as both
// ends want. One that cannot be reached resets the connection.
func (p *proxy) relay(d door, client *net.TCPConn) {
	stop := context.AfterFunc(p.k.ctx, func() { _ = client.Close() })
	defer stop()
	defer client.Close()
	ends := p.endpoints(d)
	if len(ends) == 0 {
		_ = client.SetLinger(0)
		return
	}
	ctx, cancel := context.WithTimeout(p.k.ctx, callTimeout)
	defer cancel()
	dialed, err := (&net.Dialer{}).DialContext(ctx, "tcp", ends[rand.IntN(len(ends))])
	if err != nil {
		_ = client.SetLinger(0)
		return
	}
	server := dialed.(*net.TCPConn)
	defer server.Close()
	var back sync.WaitGroup
	back.Go(func() { carry(client, server) })
	carry(server, client)
	back.Wait()
}

// carry hands on all that comes, and the end of it.
func carry(to, from *net.TCPConn) {
	if _, err := to.ReadFrom(from); err != nil {
		_ = to.SetLinger(0)
		_ = to.Close()
		return
	}
	_ = to.CloseWrite()
}

func (p *proxy) stop() {
	p.set(nil)
	p.relays.Wait()
}
