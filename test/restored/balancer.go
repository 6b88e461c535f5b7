package restored

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// balancer stands before the API servers for whoever is on none of the machines: each
// connection goes to the first that accepts, and one that leads nowhere is reset.
type balancer struct {
	listener net.Listener
	hosts    func() []string
	ctx      context.Context
	cancel   context.CancelFunc
	relays   sync.WaitGroup
}

func balance(hosts func() []string) (*balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen before the API servers: %w", err)
	}
	b := &balancer{listener: listener, hosts: hosts}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.relays.Go(b.accept)
	return b, nil
}

func (b *balancer) address() string { return b.listener.Addr().String() }

func (b *balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return // it was stopped
		}
		b.relays.Go(func() { b.relay(conn.(*net.TCPConn)) })
	}
}

func (b *balancer) relay(client *net.TCPConn) {
	server, err := dialFirst(b.ctx, b.hosts())
	if err != nil {
		_ = client.SetLinger(0)
		_ = client.Close()
		return
	}
	shut := sync.OnceFunc(func() { _ = client.Close(); _ = server.Close() })
	defer shut()
	stop := context.AfterFunc(b.ctx, shut)
	defer stop()
	var back sync.WaitGroup
	back.Go(func() { defer shut(); _, _ = io.Copy(client, server) }) // either end may close
	_, _ = io.Copy(server, client)
	shut()
	back.Wait()
}

func (b *balancer) stop() error {
	b.cancel()
	err := b.listener.Close()
	b.relays.Wait()
	return err
}
