package talos

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/siderolabs/crypto/x509"
)

// kubePKI are the files of a node's kube-apiserver: all but the server's certificates
// are the same on every control plane, as they come from the bundle.
type kubePKI struct {
	cert, key, ca       string
	frontCert, frontKey string
	frontCA             string
	serviceAccount      string
	encryption          string
}

// kubeEndpoint is the URL that the cluster's tokens are issued by. Nothing listens there.
const kubeEndpoint = "https://kubernetes.example.com:6443"

// kubeService is the first address of the Services' range: the API server's own.
const (
	kubeServices = "10.96.0.0/16"
	kubeService  = "10.96.0.1"
)

// maxNodes is how many nodes' addresses an API server's certificate names.
const maxNodes = 32

func (c *Cluster) kubePKI(dir, ip string) (*kubePKI, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	p := &kubePKI{
		cert: in("kube-apiserver.crt"), key: in("kube-apiserver.key"), ca: in("kube-ca.crt"),
		frontCert: in("front-proxy.crt"), frontKey: in("front-proxy.key"), frontCA: in("front-proxy-ca.crt"),
		serviceAccount: in("service-account.key"), encryption: in("encryption.yaml"),
	}
	certs := c.authority.bundle.Certs
	server, err := issue(certs.K8s, "kube-apiserver", ip, x509.IPAddresses(c.kubeAddresses(ip)),
		x509.DNSNames([]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost"}))
	if err != nil {
		return nil, err
	}
	front, err := issue(certs.K8sAggregator, "front-proxy-client", ip)
	if err != nil {
		return nil, err
	}
	return p, write(map[string][]byte{
		p.cert: server.CrtPEM, p.key: server.KeyPEM, p.ca: certs.K8s.Crt,
		p.frontCert: front.CrtPEM, p.frontKey: front.KeyPEM, p.frontCA: certs.K8sAggregator.Crt,
		p.serviceAccount: certs.K8sServiceAccount.Key, p.encryption: []byte(c.authority.encryption()),
	})
}

// kubeAddresses are those that an API server is reached at: its own, the Service's, and
// what stands for that on each node.
func (c *Cluster) kubeAddresses(ip string) []net.IP {
	out := []net.IP{net.ParseIP(ip), net.ParseIP(kubeService), net.IPv4(127, 0, 0, 1)}
	for i := range maxNodes {
		host, _, _ := net.SplitHostPort(c.serviceAddress(i)) // it was joined there
		out = append(out, net.ParseIP(host))
	}
	return out
}

// serviceAddress is where the node with this number reaches the Service of the API server.
func (c *Cluster) serviceAddress(i int) string { return c.network.Address(100+i, kubePort) }

// encryption is how Secrets are written to etcd. A bundle has one key, of either kind.
func (a *authority) encryption() string {
	provider, key := "secretbox", a.bundle.Secrets.SecretboxEncryptionSecret
	if key == "" {
		provider, key = "aescbc", a.bundle.Secrets.AESCBCEncryptionSecret
	}
	return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - %s: {keys: [{name: key, secret: %q}]}
  - identity: {}
`, provider, key)
}

func write(files map[string][]byte) error {
	for path, content := range files {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}
