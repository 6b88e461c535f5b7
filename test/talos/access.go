package talos

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/siderolabs/crypto/x509"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/quorate/quorate/test/cluster"
)

// administrator is the name of a member of system:masters.
const administrator = "admin"

// errNoAPIServer is the error of an access to an API server that is never there.
var errNoAPIServer = errors.New("the node runs no API server")

// Admin is an administrator's access to the node's own API server, whether that runs or
// not.
func (n *Node) Admin() (*cluster.Access, error) {
	if n.admin == nil {
		return nil, fmt.Errorf("make an access to %s: %w", n.Name, errNoAPIServer)
	}
	return n.admin, nil
}

// access is an administrator's to host:port, with a kubeconfig file at the path.
func (c *Cluster) access(address, path string) (*cluster.Access, error) {
	config, err := c.adminConfig()
	if err != nil {
		return nil, err
	}
	config.Host = "https://" + address
	file := clientapi.Config{
		Clusters:       map[string]*clientapi.Cluster{"talos": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientapi.AuthInfo{administrator: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientapi.Context{"talos": {Cluster: "talos", AuthInfo: administrator}},
		CurrentContext: "talos",
	}
	if err := clientcmd.WriteToFile(file, path); err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return &cluster.Access{User: administrator, Kubeconfig: path, Config: config}, nil
}

// adminConfig is without a host.
func (c *Cluster) adminConfig() (*rest.Config, error) {
	pair, err := issue(c.authority.bundle.Certs.K8s, administrator, "127.0.0.1", x509.Organization("system:masters"))
	if err != nil {
		return nil, err
	}
	return &rest.Config{QPS: -1, TLSClientConfig: rest.TLSClientConfig{
		CAData: c.authority.bundle.Certs.K8s.Crt, CertData: pair.CrtPEM, KeyData: pair.KeyPEM,
	}}, nil
}
