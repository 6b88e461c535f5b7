package talos

import (
	"bytes"
	"crypto/tls"
	stdx509 "crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"
)

// authority is what a cluster's certificates come from: a real secrets bundle.
type authority struct {
	bundle *secrets.Bundle
	yaml   []byte
}

// certificateLife is long against any test.
const certificateLife = 24 * time.Hour

func newAuthority(given []byte) (*authority, error) {
	if len(given) > 0 {
		return readAuthority(given)
	}
	bundle, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersionCurrent)
	if err != nil {
		return nil, fmt.Errorf("make a secrets bundle: %w", err)
	}
	text, err := yaml.Marshal(bundle)
	if err != nil {
		return nil, fmt.Errorf("write the secrets bundle: %w", err)
	}
	return &authority{bundle: bundle, yaml: text}, nil
}

func readAuthority(given []byte) (*authority, error) {
	// A bundle read from YAML has no clock, and makes no certificate without one.
	bundle := &secrets.Bundle{Clock: secrets.NewClock()}
	if err := yaml.NewDecoder(bytes.NewReader(given)).Decode(bundle); err != nil {
		return nil, fmt.Errorf("read the secrets bundle: %w", err)
	}
	if err := bundle.Validate(); err != nil {
		return nil, fmt.Errorf("read the secrets bundle: %w", err)
	}
	return &authority{bundle: bundle, yaml: given}, nil
}

// issue makes a certificate that serves at the address and is a client too. Options
// add to that or take its place.
func issue(ca *x509.PEMEncodedCertificateAndKey, name, ip string, options ...x509.Option) (*x509.KeyPair, error) {
	parent, err := x509.NewCertificateAuthorityFromCertificateAndKey(ca)
	if err != nil {
		return nil, fmt.Errorf("read a certificate authority: %w", err)
	}
	pair, err := x509.NewKeyPair(parent, append([]x509.Option{
		x509.CommonName(name), x509.DNSNames([]string{name, "localhost"}), x509.IPAddresses([]net.IP{net.ParseIP(ip)}),
		x509.NotAfter(time.Now().Add(certificateLife)), x509.KeyUsage(stdx509.KeyUsageDigitalSignature),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth, stdx509.ExtKeyUsageClientAuth}),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("issue the certificate of %s: %w", name, err)
	}
	return pair, nil
}

func pool(ca *x509.PEMEncodedCertificateAndKey) *stdx509.CertPool {
	out := stdx509.NewCertPool()
	out.AppendCertsFromPEM(ca.Crt)
	return out
}

// apiTLS is the machine API's side of mutual TLS under the Talos CA.
func (a *authority) apiTLS(name, ip string, options ...x509.Option) (*tls.Config, error) {
	pair, err := issue(a.bundle.Certs.OS, name, ip, options...)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*pair.Certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool(a.bundle.Certs.OS),
	}, nil
}

// pki is a node's etcd certificate, in files for the server and in memory for its
// clients. Talos has four certificates where this is one.
type pki struct {
	cert, key, ca string
	client        *tls.Config
}

func (a *authority) etcdPKI(dir, name, ip string) (*pki, error) {
	pair, err := issue(a.bundle.Certs.Etcd, name, ip)
	if err != nil {
		return nil, err
	}
	p := &pki{
		cert: filepath.Join(dir, "etcd.crt"), key: filepath.Join(dir, "etcd.key"), ca: filepath.Join(dir, "etcd-ca.crt"),
		client: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*pair.Certificate}, RootCAs: pool(a.bundle.Certs.Etcd),
		},
	}
	for path, content := range map[string][]byte{p.cert: pair.CrtPEM, p.key: pair.KeyPEM, p.ca: a.bundle.Certs.Etcd.Crt} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("write the etcd certificates of %s: %w", name, err)
		}
	}
	return p, nil
}
