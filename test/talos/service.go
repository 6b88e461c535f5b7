package talos

import (
	"fmt"
	"path/filepath"

	"github.com/quorate/quorate/test/cluster"
)

// ServiceAddress is what stands for the cluster IP of the API server's Service on this
// node, host:port. It leads where the node's kube-proxy has heard of an API server.
func (n *Node) ServiceAddress() string { return n.cluster.serviceAddress(n.number) }

// AdminByService is an administrator's access through ServiceAddress.
func (n *Node) AdminByService() (*cluster.Access, error) {
	if !n.cluster.options.Kubernetes {
		return nil, fmt.Errorf("make an access through %s: %w", n.Name, errNoAPIServer)
	}
	return n.cluster.access(n.ServiceAddress(), filepath.Join(n.dir, "kubeconfig-service.yaml"))
}

func (n *Node) proxy() (*proxy, error) {
	b, err := n.current()
	if err != nil {
		return nil, err
	}
	if b.proxy == nil {
		return nil, fmt.Errorf("the kube-proxy of %s: %w", n.Name, errNoAPIServer)
	}
	return b.proxy, nil
}

// ServiceBackends are where new connections to ServiceAddress lead, host:port each and
// sorted; none while the machine is off.
func (n *Node) ServiceBackends() []string {
	p, err := n.proxy()
	if err != nil {
		return nil
	}
	return p.known()
}

// FreezeService keeps the node's kube-proxy from acting on what it hears, until it is
// thawed or restarted, or the machine reboots.
func (n *Node) FreezeService() (thaw func(), err error) {
	p, err := n.proxy()
	if err != nil {
		return nil, fmt.Errorf("freeze a Service: %w", err)
	}
	return p.freeze(), nil
}

// StaleService is FreezeService of a kube-proxy that has heard of these API servers last,
// host:port each: of none any more, or of machines that are gone.
func (n *Node) StaleService(backends ...string) (thaw func(), err error) {
	p, err := n.proxy()
	if err != nil {
		return nil, fmt.Errorf("make a Service stale: %w", err)
	}
	return p.stale(backends), nil
}

// RestartProxy lets the node's kube-proxy list anew, as after a restart of its pod.
func (n *Node) RestartProxy() error {
	p, err := n.proxy()
	if err == nil {
		err = p.restart()
	}
	if err != nil {
		return fmt.Errorf("restart the kube-proxy of %s: %w", n.Name, err)
	}
	return nil
}
