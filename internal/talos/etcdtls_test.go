package talos

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
)

// meeting is a handshake of a client with a server that asks it for a certificate, and
// what each of them thinks of it.
func meeting(t *testing.T, client *tls.Config, serves tls.Certificate, trusts *x509.CertPool) (seen *x509.Certificate, theirs, ours error) {
	t.Helper()
	near, far := wire(t)
	server := tls.Server(far, &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{serves}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusts,
	})
	done := make(chan error, 1)
	go func() {
		err := server.HandshakeContext(t.Context())
		_ = far.Close() // the client waits for nothing more
		done <- err
	}()
	client.ServerName = "127.0.0.1"
	conn := tls.Client(near, client)
	ours = conn.HandshakeContext(t.Context())
	if ours == nil {
		_, _ = conn.Read(make([]byte, 1)) // until the server has judged
	}
	_ = near.Close() // the server waits for nothing more
	theirs = <-done
	if peers := server.ConnectionState().PeerCertificates; len(peers) > 0 {
		seen = peers[0]
	}
	return seen, theirs, ours
}

// wire is a connection, from both ends.
func wire(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l := listen(t)
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{near, far} {
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) // a meeting closes both
	}
	return near, far
}

func etcdAuthority(t *testing.T, b *Bundle) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(b.secrets.Certs.Etcd.Crt, b.secrets.Certs.Etcd.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// A member of the cluster's etcd and the client know each other by certs.etcd alone.
func TestEtcdTLS(t *testing.T) {
	b := loadBundle(t)
	own := etcdAuthority(t, b)
	seen, theirs, ours := meeting(t, b.EtcdTLS(), served(t, own, nil), pool(own))
	if theirs != nil || ours != nil {
		t.Fatalf("the member says %v, the client %v", theirs, ours)
	}
	if got := seen.Subject.Organization; !slices.Equal(got, []string{"quorate"}) {
		t.Errorf("the client is %v", got)
	}
	if !slices.Equal(seen.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) {
		t.Errorf("the certificate is good for %v", seen.ExtKeyUsage)
	}
}

func TestEtcdTLSOfOthers(t *testing.T) {
	b := loadBundle(t)
	own, talos := etcdAuthority(t, b), authorityOf(t, b)
	_, _, ours := meeting(t, b.EtcdTLS(), served(t, talos, nil), pool(own))
	if _, ok := errors.AsType[x509.UnknownAuthorityError](ours); !ok {
		t.Errorf("a server that certs.os signed is trusted: %v", ours)
	}
	_, theirs, _ := meeting(t, b.EtcdTLS(), served(t, own, nil), pool(talos))
	if _, ok := errors.AsType[x509.UnknownAuthorityError](theirs); !ok {
		t.Errorf("the client's certificate passes for one of certs.os: %v", theirs)
	}
}

// One certificate serves many connections, and is replaced before it ends.
func TestEtcdTLSRenews(t *testing.T) {
	b := loadBundle(t)
	start := time.Now().Truncate(time.Second)
	serial := func(passed time.Duration) string {
		b.secrets.Clock = secrets.NewFixedClock(start.Add(passed))
		c, err := b.EtcdTLS().GetClientCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.SerialNumber.String()
	}
	first := serial(0)
	if serial(certificateLife-renewBefore-time.Second) != first {
		t.Error("it was replaced long before its end")
	}
	if serial(certificateLife-renewBefore) == first {
		t.Error("it was not replaced before its end")
	}
}
