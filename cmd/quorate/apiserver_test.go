package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// authority signs the certificates of API servers.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *tls.Certificate // the last one that was signed
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	a := &authority{}
	der := a.sign(t, template, template)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// sign makes a certificate of a new key, which signs itself if it is the first one.
func (a *authority) sign(t *testing.T, template, parent *x509.Certificate) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if a.key == nil {
		a.key = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if parent != template {
		a.leaf = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return der
}

// serves begins an API server at an address, which proves to be those IP addresses.
func (a *authority) serves(t *testing.T, address string, answer http.HandlerFunc, names ...string) (*httptest.Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour)}
	for _, n := range names {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(n))
	}
	a.sign(t, template, a.cert)
	server := httptest.NewUnstartedServer(answer)
	_ = server.Listener.Close() // it listens where it is told instead
	server.Listener, server.TLS = listener, &tls.Config{Certificates: []tls.Certificate{*a.leaf}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return server, port
}
