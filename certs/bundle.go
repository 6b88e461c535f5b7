package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// parseBundle reads the certificates of a PEM bundle. What cannot be read is left
// out: a damaged bundle is then one that has to be published again.
func parseBundle(bundle []byte) []*x509.Certificate {
	var certs []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			certs = append(certs, c)
		}
	}
	return certs
}

// encodeBundle is parseBundle's inverse.
func encodeBundle(certs []*x509.Certificate) []byte {
	var out bytes.Buffer
	for _, c := range certs {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	return out.Bytes()
}

func poolOf(certs []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool
}

func contains(set []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(set, c.Equal)
}

// add returns the set with what it does not have yet.
func add(set []*x509.Certificate, more ...*x509.Certificate) []*x509.Certificate {
	set = slices.Clip(set) // the caller's set stays as it is
	for _, c := range more {
		if !contains(set, c) {
			set = append(set, c)
		}
	}
	return set
}

func sameSet(a, b []*x509.Certificate) bool {
	if len(a) != len(b) {
		return false
	}
	return !slices.ContainsFunc(a, func(c *x509.Certificate) bool { return !contains(b, c) })
}

// Live is what the webhook configuration trusts, one bundle an entry. The zero
// value stands for a configuration that does not exist: it is never created
// here, since deleting it is the way out for people.
type Live struct {
	Found   bool
	Bundles [][]*x509.Certificate
}

// LiveOf reads the bundles of all entries; nil is an absent configuration.
func LiveOf(c *admissionregistrationv1.ValidatingWebhookConfiguration) Live {
	if c == nil {
		return Live{}
	}
	l := Live{Found: true}
	for _, w := range c.Webhooks {
		l.Bundles = append(l.Bundles, parseBundle(w.ClientConfig.CABundle))
	}
	return l
}

// Trusted lists the authorities that every entry trusts.
func (l Live) Trusted() []*x509.Certificate {
	if len(l.Bundles) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Bundles[0]), func(c *x509.Certificate) bool {
		return slices.ContainsFunc(l.Bundles[1:], func(b []*x509.Certificate) bool { return !contains(b, c) })
	})
}

// any lists the authorities that at least one entry trusts.
func (l Live) any() []*x509.Certificate {
	var out []*x509.Certificate
	for _, b := range l.Bundles {
		out = add(out, b...)
	}
	return out
}

// covers reports whether every entry trusts at least these.
func (l Live) covers(want []*x509.Certificate) bool {
	return len(l.Bundles) == 0 || len(add(l.Trusted(), want...)) == len(l.Trusted())
}

// is reports whether every entry trusts exactly these.
func (l Live) is(want []*x509.Certificate) bool {
	return !slices.ContainsFunc(l.Bundles, func(b []*x509.Certificate) bool { return !sameSet(b, want) })
}
