package talos

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
)

// bundleYAML is a real bundle, as a Secret holds it. The contract is one whose service
// account has a key that is made quickly; nothing here uses it.
var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

func loadBundle(t testing.TB) *Bundle {
	t.Helper()
	data, err := bundleYAML()
	if err != nil {
		t.Fatal(err)
	}
	b, err := LoadBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// authorityOf is the one that signs for a cluster's nodes.
func authorityOf(t testing.TB, b *Bundle) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(b.secrets.Certs.OS.Crt, b.secrets.Certs.OS.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// otherAuthority is the one of another cluster.
func otherAuthority(t testing.TB) tls.Certificate {
	t.Helper()
	ca, err := secrets.NewTalosCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(ca.CrtPEM, ca.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// served is a node's certificate for 127.0.0.1, but for what change changes.
func served(t testing.TB, by tls.Certificate, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Leaf, public, by.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pool(authority tls.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(authority.Leaf)
	return p
}
