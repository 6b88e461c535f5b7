package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// LeafReader fetches what a server serves.
type LeafReader interface {
	// Leaf returns the certificates served at host:port, the leaf first, whoever
	// signed them.
	Leaf(ctx context.Context, address, serverName string) ([]*x509.Certificate, error)
}

// Dialer reads leaves by a TLS handshake.
type Dialer struct{}

// ErrNoCertificate is a handshake without a certificate.
var ErrNoCertificate = errors.New("no certificate was served")

// Leaf implements LeafReader. It does not verify: an untrusted certificate is what
// it has to show.
func (Dialer) Leaf(ctx context.Context, address, serverName string) ([]*x509.Certificate, error) {
	dialer := tls.Dialer{Config: &tls.Config{ServerName: serverName, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("shake hands with %s: %w", address, err)
	}
	defer conn.Close()
	served := conn.(*tls.Conn).ConnectionState().PeerCertificates
	if len(served) == 0 {
		return nil, fmt.Errorf("shake hands with %s: %w", address, ErrNoCertificate)
	}
	return served, nil
}

func checkLeaves(ctx context.Context, c Config) []Finding {
	configuration, problem := c.installed(ctx)
	if problem != nil {
		return []Finding{*problem}
	}
	var findings []Finding
	for _, d := range doors(configuration) {
		addresses, problem := c.addresses(ctx, d)
		if problem != nil {
			findings = append(findings, *problem)
		}
		for _, address := range addresses {
			findings = append(findings, c.checkLeaf(ctx, d, address, bundleOf(configuration, d)))
		}
	}
	if len(findings) == 0 {
		return []Finding{{Unknown, "there is no ready endpoint whose certificate could be seen", "Look at the check webhook-endpoints."}}
	}
	return findings
}

// addresses are where the webhook listens, as host:port.
func (c Config) addresses(ctx context.Context, d door) ([]string, *Finding) {
	if len(c.Addresses) > 0 {
		return c.Addresses, nil
	}
	if d.url == "" {
		return c.endpoints(ctx, d)
	}
	u, err := url.Parse(d.url)
	if err != nil {
		return nil, &Finding{Failed, fmt.Sprintf("the webhook's address %q is none: %v", d.url, err), reinstall}
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return []string{net.JoinHostPort(u.Hostname(), port)}, nil
}

// bundleOf gives what the API server trusts behind a door.
func bundleOf(w *admissionregistrationv1.ValidatingWebhookConfiguration, d door) []*x509.Certificate {
	for _, e := range w.Webhooks {
		single := &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{e}}
		if doors(single)[0] == d {
			return parse(e.ClientConfig.CABundle)
		}
	}
	return nil
}

func (c Config) checkLeaf(ctx context.Context, d door, address string, trusted []*x509.Certificate) Finding {
	served, err := read(ctx, c, func(ctx context.Context) ([]*x509.Certificate, error) {
		return c.Leaves.Leaf(ctx, address, d.serverName())
	})
	if err != nil {
		return Finding{Unknown, fmt.Sprintf("the webhook at %s cannot be reached from here: %v", address, err),
			fmt.Sprintf("Make a way: kubectl -n %s port-forward deploy/%s 9443, and beside it: quorate doctor --webhook-address 127.0.0.1:9443.", c.Names.Namespace, c.Names.Deployment)}
	}
	return JudgeLeaf(served, trusted, address, d.serverName(), c.Now())
}

// JudgeLeaf verifies what is served at an address as the API server would.
func JudgeLeaf(served, trusted []*x509.Certificate, address, serverName string, now time.Time) Finding {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range trusted {
		roots.AddCert(c)
	}
	for _, c := range served[1:] {
		between.AddCert(c)
	}
	what := "the certificate served at " + address
	life := judgeLife(what, served[0], false, now)
	if life.State == Failed {
		return life
	}
	_, err := served[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: serverName, CurrentTime: now})
	if err != nil {
		return Finding{Failed, fmt.Sprintf("%s is refused by the API server: %v", what, err),
			"Look at the check certificate-authority; the manager serves a new one within seconds of it."}
	}
	return life
}
