package talos

import (
	"crypto/tls"
	"sync"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// identity is the certificate that a node presents in the place of its own.
type identity struct {
	mu    sync.Mutex
	other *tls.Certificate
}

func (i *identity) set(c *tls.Certificate) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.other = c
}

// over lets a server's configuration ask which certificate is due.
func (i *identity) over(config *tls.Config) {
	own := config.Certificates[0]
	config.Certificates = nil // GetCertificate is not asked beside them
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.other != nil {
			return i.other, nil
		}
		return &own, nil
	}
}

// PresentExpired lets the machine API present a certificate of the right authority
// that ended an hour ago, to new connections: those that are up break. The answered
// function puts its own back.
func (n *Node) PresentExpired() (restore func(), err error) {
	return n.present(n.cluster.authority, time.Now().Add(-time.Hour))
}

// PresentAnother does the same with a certificate of another cluster's authority, as
// a machine does that was installed for that one.
func (n *Node) PresentAnother(c *Cluster) (restore func(), err error) {
	return n.present(c.authority, time.Now().Add(certificateLife))
}

func (n *Node) present(by *authority, end time.Time) (restore func(), err error) {
	pair, err := issue(by.bundle.Certs.OS, n.Name, n.IP, x509.NotBefore(end.Add(-2*certificateLife)), x509.NotAfter(end))
	if err != nil {
		return nil, err
	}
	swap := func(c *tls.Certificate) {
		n.identity.set(c)
		n.Fault(Unreachable())() // breaks what is connected
	}
	swap(pair.Certificate)
	return sync.OnceFunc(func() { swap(nil) }), nil
}
