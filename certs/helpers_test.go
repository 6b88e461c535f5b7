package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// start is when the tables begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is the time that many hours after start.
func at(hours float64) time.Time { return start.Add(time.Duration(hours * float64(time.Hour))) }

// testPolicy has lifetimes that a table can count in hours.
func testPolicy() Policy {
	return Policy{
		CALifetime: 300 * time.Hour, LeafLifetime: 30 * time.Hour, Grace: time.Hour,
		Skew: 2 * time.Hour, Poll: time.Minute, CallTimeout: 5 * time.Second,
	}
}

// quickCA is FoundCA with a key that is made in microseconds.
func quickCA(from, to time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca-" + from.Format(time.RFC3339)},
		NotBefore: from, NotAfter: to, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return ParseCA(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	)
}

func ca(t *testing.T, fromHour, toHour float64) *CA {
	t.Helper()
	made, err := quickCA(at(fromHour), at(toHour))
	if err != nil {
		t.Fatalf("make a CA: %v", err)
	}
	return made
}

func leafOf(t *testing.T, by *CA, fromHour, toHour float64) *x509.Certificate {
	t.Helper()
	leaf, err := SignLeaf(by, Names{DNS: []string{"gate.example.com"}}, at(fromHour), at(toHour))
	if err != nil {
		t.Fatalf("sign a leaf: %v", err)
	}
	return leaf.Leaf
}

func liveWith(bundles ...[]*x509.Certificate) Live { return Live{Found: true, Bundles: bundles} }

func set(cs ...*CA) []*x509.Certificate {
	var out []*x509.Certificate
	for _, c := range cs {
		out = append(out, c.Cert)
	}
	return out
}
