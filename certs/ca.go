package certs

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

// CA is a certificate authority with its key.
type CA struct {
	Cert            *x509.Certificate
	CertPEM, KeyPEM []byte
	key             crypto.PrivateKey
}

// ErrCA marks a certificate authority that cannot sign.
var ErrCA = errors.New("unusable certificate authority")

// Found makes a self-signed authority.
type Found func(from, to time.Time) (*CA, error)

// FoundCA makes an authority of cert-controller's kind (RSA 2048). Its subject
// carries the time, so that two that overlap can be told apart.
func FoundCA(from, to time.Time) (*CA, error) {
	r := &rotator.CertRotator{
		CAName:         "quorate-webhook-ca-" + from.UTC().Format("20060102T150405Z"),
		CAOrganization: "quorate.dev",
	}
	made, err := r.CreateCACert(from, to)
	if err != nil {
		return nil, fmt.Errorf("create certificate authority: %w", err)
	}
	return ParseCA(made.CertPEM, made.KeyPEM)
}

// ParseCA reads an authority from PEM. The error is ErrCA when the key does not
// belong to the certificate, or the certificate may not sign.
func ParseCA(certPEM, keyPEM []byte) (*CA, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%w: read key pair: %w", ErrCA, err)
	}
	if !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%w: %s may not sign", ErrCA, pair.Leaf.Subject.CommonName)
	}
	return &CA{Cert: pair.Leaf, CertPEM: certPEM, KeyPEM: keyPEM, key: pair.PrivateKey}, nil
}
