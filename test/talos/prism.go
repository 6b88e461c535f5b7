package talos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// prismPort is KubePrism's.
const prismPort = "7445"

// prismDial is how long one control plane may take to accept.
const prismDial = 2 * time.Second

// prism is Talos's KubePrism: a balancer on each node that knows all control planes and
// needs no Service. While no API server is there it accepts and closes; see
// Options.WithoutKubePrism for what that does to informers.
type prism struct {
	cluster  *Cluster
	listener net.Listener
	relays   sync.WaitGroup
}

func (n *Node) newPrism() (*prism, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(n.IP, prismPort))
	if err != nil {
		return nil, fmt.Errorf("open KubePrism on %s: %w", n.Name, err)
	}
	return &prism{cluster: n.cluster, listener: listener}, nil
}

// run relays until ctx is done.
func (p *prism) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = p.listener.Close() })
	defer stop()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			break // it was shut
		}
		p.relays.Go(func() { relay(ctx, conn.(*net.TCPConn), p.cluster.dialAny) })
	}
	p.relays.Wait()
}

// kubeConfig is how a node's own kubelet and kube-proxy reach an API server. The identity
// is an administrator's.
func (n *Node) kubeConfig() (*rest.Config, error) {
	config, err := n.cluster.adminConfig()
	if err != nil {
		return nil, err
	}
	config.Host, config.ServerName = "https://"+net.JoinHostPort(n.IP, prismPort), "kubernetes"
	if n.cluster.options.WithoutKubePrism {
		config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return n.cluster.dialAny(ctx) }
	}
	return config, nil
}

// client is an administrator's, to any API server that accepts.
func (c *Cluster) client() (kubernetes.Interface, error) {
	config, err := c.adminConfig()
	if err != nil {
		return nil, err
	}
	config.Host = "https://kubernetes:" + kubePort // a name in every certificate
	config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dialAny(ctx) }
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the API servers: %w", err)
	}
	return client, nil
}

// errNoControlPlane is the error of a cluster without control planes.
var errNoControlPlane = errors.New("there is no control plane")

// dialAny connects to the first control plane that accepts, in some order. If none does,
// it answers why the last one has not.
func (c *Cluster) dialAny(ctx context.Context) (conn net.Conn, err error) {
	nodes := c.ControlPlanes()
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	err = errNoControlPlane
	for _, n := range nodes {
		if conn, err = (&net.Dialer{Timeout: prismDial}).DialContext(ctx, "tcp", n.kubeAddress()); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// relay joins a connection with one that dial answers, for as long as both ends want. It
// is closed if there is none.
func relay(ctx context.Context, client *net.TCPConn, dial func(context.Context) (net.Conn, error)) {
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	defer client.Close()
	dialed, err := dial(ctx)
	if err != nil {
		return
	}
	server := dialed.(*net.TCPConn)
	defer server.Close()
	unblock := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer unblock()
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
