package talos

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// Role is what a client may do; Talos reads it from the Organization of its
// certificate.
type Role string

const (
	// Reader may read all that this package reads, but for [Node.BootID].
	Reader = Role(role.Reader)
	// Operator may stream a snapshot too, and may neither reset a node nor found etcd.
	Operator = Role(role.Operator)
	// Admin may do all that this package does.
	Admin = Role(role.Admin)
	// etcdClient is a client of etcd, which asks for no more than its authority's
	// signature. The name is for those who read a member's log.
	etcdClient Role = "quorate"
)

const (
	// certificateLife is how long a client certificate is good for.
	certificateLife = time.Hour
	// renewBefore is how long before its end it is replaced. A connection that is
	// up outlives its certificate.
	renewBefore = 20 * time.Minute
	// clockSkew is how far a node's clock may be behind.
	clockSkew = 10 * time.Minute
)

// certificate is the one in use for a role, or a new one.
func (b *Bundle) certificate(r Role) (*tls.Certificate, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.secrets.Clock.Now()
	if c := b.issued[r]; c != nil && now.Before(c.Leaf.NotAfter.Add(-renewBefore)) {
		return c, nil
	}
	c, err := b.issue(r, now)
	if err != nil {
		return nil, fmt.Errorf("make a client certificate for %s: %w", r, err)
	}
	b.issued[r] = c
	return c, nil
}

func (b *Bundle) issue(r Role, now time.Time) (*tls.Certificate, error) {
	authority := b.secrets.Certs.OS
	if r == etcdClient {
		authority = b.secrets.Certs.Etcd
	}
	pem, err := secrets.NewAdminCertificateAndKey(now.Add(-clockSkew), authority,
		role.MakeSet(role.Role(r)), clockSkew+certificateLife)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(pem.Crt, pem.Key)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// EtcdTLS is for connections to the cluster's etcd members: both ends are signed by
// certs.etcd. Each new connection presents the certificate of that moment.
func (b *Bundle) EtcdTLS() *tls.Config {
	config := b.tls(etcdClient)
	config.RootCAs = b.etcdRoots
	return config
}

// tls makes each new connection present the certificate of that moment.
func (b *Bundle) tls(r Role) *tls.Config {
	return &tls.Config{
		RootCAs:    b.roots,
		MinVersion: tls.VersionTLS12,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return b.certificate(r)
		},
	}
}
