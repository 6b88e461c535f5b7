package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Names are what a leaf is valid for; the first DNS name is its subject.
type Names struct {
	DNS []string
	IPs []net.IP
}

// ErrNames marks a leaf without a name.
var ErrNames = errors.New("a serving certificate needs a DNS name")

// SignLeaf makes a serving certificate. It does not outlive its authority.
//
// cert-controller's CreateCertPEM is not used here: it knows no IP addresses and
// gives every leaf the serial number 1, and each of these has many siblings.
func SignLeaf(ca *CA, n Names, from, to time.Time) (*tls.Certificate, error) {
	if len(n.DNS) == 0 {
		return nil, ErrNames
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate leaf key: %w", err)
	}
	template, err := leafTemplate(n, from, earlier(to, ca.Cert.NotAfter))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Cert, key.Public(), ca.key)
	if err != nil {
		return nil, fmt.Errorf("sign leaf: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read signed leaf: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func leafTemplate(n Names, from, to time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("generate serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber:          serial.Add(serial, big.NewInt(1)),
		Subject:               pkix.Name{CommonName: n.DNS[0]},
		DNSNames:              n.DNS,
		IPAddresses:           n.IPs,
		NotBefore:             from,
		NotAfter:              to,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// SignNow decides whether a replica that holds a leaf signs another one with the
// authority's current key. live is what the configuration trusts.
//
// A leaf that is still good is kept until the current authority has settled, so
// that no API server meets a leaf that it does not trust yet.
func SignNow(held *x509.Certificate, a Authority, live []*x509.Certificate, now time.Time, p Policy) bool {
	switch {
	case a.Current == nil:
		return false
	case held == nil:
		return true
	case held.CheckSignatureFrom(a.Current.Cert) == nil:
		return !now.Before(twoThirds(held.NotBefore, held.NotAfter))
	case !contains(live, a.Current.Cert):
		return false // no better than what is held
	default:
		return a.settled(now, p) || now.After(held.NotAfter.Add(p.Skew)) || !trusts(live, held, now)
	}
}

// trusts reports whether one of the authorities signed the leaf, valid or expired.
func trusts(live []*x509.Certificate, leaf *x509.Certificate, now time.Time) bool {
	_, err := leaf.Verify(x509.VerifyOptions{Roots: poolOf(live), CurrentTime: earlier(now, leaf.NotAfter)})
	return err == nil
}
