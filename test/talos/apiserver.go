package talos

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/test/cluster"
)

// kubePort is where API servers listen, and what stands for their Service.
const kubePort = "6443"

func (c *Cluster) findKubernetes(ctx context.Context) error {
	if !c.options.Kubernetes {
		return nil
	}
	dir, err := cluster.FindAssets(ctx, "", c.options.Progress)
	c.apiserver = filepath.Join(dir, "kube-apiserver")
	return err
}

// errTooMany is the error of a node whose Service address no API server's certificate names.
var errTooMany = fmt.Errorf("with Kubernetes there can be %d nodes", maxNodes)

// installKubernetes makes what an API server of this node and its administrator need.
func (n *Node) installKubernetes() (err error) {
	switch {
	case !n.cluster.options.Kubernetes:
		return nil
	case n.number >= maxNodes:
		return errTooMany
	case n.worker:
		return nil
	}
	if n.kube, err = n.cluster.kubePKI(n.dir, n.IP); err != nil {
		return err
	}
	n.admin, err = n.cluster.access(n.kubeAddress(), filepath.Join(n.dir, "kubeconfig.yaml"))
	return err
}

// apiServerFlags are Talos's but for an audit log, and without fair queues: three API
// servers share a small machine here. They share its name too, and so one Lease of
// their identity, which they fight for in their logs. The admission of ServiceAccounts is off: no
// kube-controller-manager makes them.
func (n *Node) apiServerFlags() []string {
	k := n.kube
	return []string{
		"--bind-address=" + n.IP, "--secure-port=" + kubePort, "--advertise-address=" + advertised(n.IP),
		"--etcd-servers=https://" + n.etcdAddress(etcdClientPort), "--etcd-cafile=" + n.pki.ca, "--etcd-certfile=" + n.pki.cert, "--etcd-keyfile=" + n.pki.key,
		"--tls-cert-file=" + k.cert, "--tls-private-key-file=" + k.key, "--client-ca-file=" + k.ca,
		"--requestheader-client-ca-file=" + k.frontCA, "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + k.frontCert, "--proxy-client-key-file=" + k.frontKey,
		"--service-account-issuer=" + kubeEndpoint, "--api-audiences=" + kubeEndpoint,
		"--service-account-key-file=" + k.serviceAccount, "--service-account-signing-key-file=" + k.serviceAccount,
		"--encryption-provider-config=" + k.encryption, "--service-cluster-ip-range=" + kubeServices,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=ServiceAccount",
		"--anonymous-auth=false", "--allow-privileged=true", "--enable-bootstrap-token-auth=true", "--profiling=false",
		"--enable-priority-and-fairness=false", "--shutdown-watch-termination-grace-period=1s",
	}
}

// advertised is a node's address in EndpointSlices, which refuse those of the loopback.
func advertised(ip string) string { return "10" + strings.TrimPrefix(ip, "127") }

// loopback is the address of a node that EndpointSlices have as this one.
func loopback(advertised string) string { return "127" + strings.TrimPrefix(advertised, "10") }

// kubeAddress is the node's API server, host:port.
func (n *Node) kubeAddress() string { return net.JoinHostPort(n.IP, kubePort) }

func (n *Node) apiServerLog() string { return filepath.Join(n.dir, "kube-apiserver.log") }

// APIServerLogTail is the end of what kube-apiserver has logged on this node.
func (n *Node) APIServerLogTail() string {
	content, err := os.ReadFile(n.apiServerLog())
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-tailBytes):])
}

// APIServerPID is the process of the node's kube-apiserver; 0 if none runs.
func (n *Node) APIServerPID() int {
	b, err := n.current()
	if err != nil {
		return 0
	}
	server := b.pods.running()
	if server == nil || server.Alive() != nil {
		return 0
	}
	return server.PID()
}

// Serving waits until the node's API server is ready.
func (n *Node) Serving(ctx context.Context) error {
	access, err := n.Admin()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(access.Config)
	if err != nil {
		return fmt.Errorf("make a client of the API server of %s: %w", n.Name, err)
	}
	return cluster.Until(ctx, "the API server of "+n.Name, func(ctx context.Context) error {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	})
}

// serving waits for all API servers, and for the Nodes.
func (c *Cluster) serving(ctx context.Context) error {
	if !c.options.Kubernetes {
		return nil
	}
	for _, n := range c.ControlPlanes() {
		if err := n.Serving(ctx); err != nil {
			return err
		}
	}
	for _, n := range c.Nodes() {
		if err := n.Registered(ctx); err != nil {
			return err
		}
	}
	return nil
}
