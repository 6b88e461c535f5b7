package talos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// prismDial is how long one control plane may take to accept.
const prismDial = 2 * time.Second

// prism is how a node's own kubelet and kube-proxy reach an API server: Talos's KubePrism,
// a balancer on each node that knows all control planes and needs no Service. The
// identity is an administrator's.
func (c *Cluster) prism() (*rest.Config, error) {
	config, err := c.adminConfig()
	if err != nil {
		return nil, err
	}
	config.Host = "https://kubernetes:" + kubePort // a name in every certificate
	config.Dial = c.dialAny
	return config, nil
}

func (c *Cluster) prismClient() (kubernetes.Interface, error) {
	config, err := c.prism()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a node's client: %w", err)
	}
	return client, nil
}

// errNoControlPlane is the error of a node that no API server accepts.
var errNoControlPlane = errors.New("no API server accepts a connection")

// dialAny connects to the first control plane that accepts, in some order.
func (c *Cluster) dialAny(ctx context.Context, network, _ string) (net.Conn, error) {
	nodes := c.ControlPlanes()
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for _, n := range nodes {
		if conn, err := (&net.Dialer{Timeout: prismDial}).DialContext(ctx, network, n.kubeAddress()); err == nil {
			return conn, nil
		}
	}
	return nil, errNoControlPlane
}
