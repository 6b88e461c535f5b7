package talos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
)

// keepDoor holds the address of the Service open while it leads to a living API server:
// packets to the others are refused by their machines, and a connection to one of
// those is reset here, where there is no way to refuse it any more.
func (p *proxy) keepDoor(ctx context.Context) {
	var relays sync.WaitGroup
	defer relays.Wait()
	var listener net.Listener
	for pause(ctx, podsEvery) == nil {
		if alive := p.node.cluster.anyServes(p.known()); alive && listener == nil {
			opened, err := net.Listen("tcp", p.node.ServiceAddress())
			if err != nil {
				p.node.complain(fmt.Errorf("open the Service of the API server: %w", err))
				return
			}
			listener = opened
			relays.Go(func() { p.accept(ctx, &relays, opened) })
		} else if !alive && listener != nil {
			_ = listener.Close()
			listener = nil
		}
	}
	if listener != nil {
		_ = listener.Close()
	}
}

// anyServes tells whether a process stands behind one of the addresses.
func (c *Cluster) anyServes(addresses []string) bool {
	return slices.ContainsFunc(c.ControlPlanes(), func(n *Node) bool {
		return slices.Contains(addresses, n.kubeAddress()) && n.APIServerPID() != 0
	})
}

func (p *proxy) accept(ctx context.Context, relays *sync.WaitGroup, listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // it was shut
		}
		client := conn.(*net.TCPConn)
		relays.Go(func() { relay(ctx, client, func(ctx context.Context) (net.Conn, error) { return p.dial(ctx, client) }) })
	}
}

// errNoBackend is the error of a Service that leads nowhere.
var errNoBackend = errors.New("no backend")

// dial takes a backend by chance, be it dead.
func (p *proxy) dial(ctx context.Context, client *net.TCPConn) (net.Conn, error) {
	err := errNoBackend
	if backends := p.known(); len(backends) > 0 {
		var conn net.Conn
		if conn, err = (&net.Dialer{Timeout: prismDial}).DialContext(ctx, "tcp", backends[rand.IntN(len(backends))]); err == nil {
			return conn, nil
		}
	}
	_ = client.SetLinger(0)
	return nil, err
}
