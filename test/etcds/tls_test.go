package etcds

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// authority signs certificates of one Etcd.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// issue makes a certificate; without a key of its own the authority signs itself.
func (a *authority) issue(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	a.next++
	template.SerialNumber, template.NotBefore = big.NewInt(a.next), time.Now().Add(-time.Minute)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	must(a.t, err)
	cert, err := x509.ParseCertificate(der)
	must(a.t, err)
	return cert, key
}

// pair is the content of a Secret: a certificate for the members and Services of the
// Etcd, its key, and the authority. Connections between pods come from the loopback.
func (a *authority) pair(p *plant) map[string][]byte {
	a.t.Helper()
	cert, key := a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "member"}, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{fmt.Sprintf("*.%s-peer.%s.svc", p.name, p.ns), fmt.Sprintf("%s.%s.svc", p.name, p.ns)},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	return map[string][]byte{
		corev1.TLSCertKey: pemOf("CERTIFICATE", cert.Raw), corev1.TLSPrivateKeyKey: pemOf("PRIVATE KEY", der),
		corev1.ServiceAccountRootCAKey: pemOf("CERTIFICATE", a.cert.Raw),
	}
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// client is a person's way in.
func (a *authority) client(p *plant) *tls.Config {
	a.t.Helper()
	data := a.pair(p)
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	must(a.t, err)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// secret makes a Secret, or replaces what is in it.
func (p *plant) secret(name string, data map[string][]byte) {
	p.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: name}, Data: data}
	err := admin.Create(p.t.Context(), s)
	if err == nil {
		return
	}
	must(p.t, admin.Get(p.t.Context(), client.ObjectKeyFromObject(s), s))
	s.Data = data
	must(p.t, admin.Update(p.t.Context(), s))
}

// overTLS secures clients and peers by Secrets of these names.
func overTLS(e *v1alpha1.Etcd) {
	e.Spec.Etcd.ClientTLS = &v1alpha1.ClientTLS{ServerSecretRef: v1alpha1.LocalRef{Name: "server"}, ClientSecretRef: v1alpha1.LocalRef{Name: "client"}}
	e.Spec.Etcd.PeerTLS = &v1alpha1.PeerTLS{SecretRef: v1alpha1.LocalRef{Name: "peer"}}
}

// renew issues all three Secrets.
func (p *plant) renew(a *authority) {
	p.t.Helper()
	for _, name := range []string{"server", "client", "peer"} {
		p.secret(name, a.pair(p))
	}
}

// 1→3→1 with client and peer TLS, and every certificate renewed in the middle: what
// started before and what starts after go on together.
//
//
func TestTLSIsRenewedWhileScaling(t *testing.T) {
	t.Parallel()
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	ca := newAuthority(t)
	p.tls = ca.client(p)
	p.renew(ca)
	p.create(1, overTLS)
	p.settled(1)
	p.put("one")
	p.scale(3)
	p.renew(ca)
	p.settled(3)
	p.want(3)
	p.put("three")
	if _, err := viewAt(t.Context(), nil, "http://"+p.service()[len("https://"):]); err == nil {
		t.Error("the members answer without TLS")
	}
	p.renew(ca)
	p.scale(1)
	p.settled(1)
	p.want(1)
	p.kept()
	served := p.served()
	if served.SerialNumber.Int64() <= 4 {
		t.Errorf("the certificate number %d is served, want a renewed one", served.SerialNumber)
	}
	p.scale(3)
	p.settled(3)
	p.kept()
}

// served is the certificate that the client Service leads to now.
func (p *plant) served() *x509.Certificate {
	p.t.Helper()
	dialer := &tls.Dialer{Config: p.tls}
	connection, err := dialer.DialContext(p.t.Context(), "tcp", p.service()[len("https://"):])
	must(p.t, err)
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
}
