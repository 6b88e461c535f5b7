package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// errTLS marks a Secret that cannot be used. The error names it and what it lacks.
var errTLS = errors.New("TLS Secret")

// tls reads the client certificate anew each time: Secrets are renewed while we run.
// Nil for plain HTTP.
func (c *cycle) tls(ctx context.Context) (*tls.Config, error) {
	settings := c.names.settings().ClientTLS
	if settings == nil {
		return nil, nil
	}
	return c.secret(ctx, "spec.etcd.clientTLS.clientSecretRef", settings.ClientSecretRef)
}

// secret reads the Secret that a field of spec names.
func (c *cycle) secret(ctx context.Context, field string, ref v1alpha1.LocalRef) (*tls.Config, error) {
	secret := &corev1.Secret{}
	if err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.etcd.Namespace, Name: ref.Name}, secret); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errTLS, field, err)
	}
	config, err := tlsOf(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: Secret %s: %w", errTLS, field, ref.Name, err)
	}
	return config, nil
}

// mounted looks at the Secrets that the members mount while not all of them are well:
// a pod waits for one that is missing without a word in its status.
func (c *cycle) mounted(ctx context.Context) {
	s := c.names.settings()
	if c.replicas() == 0 || c.gone() || c.view != nil && len(c.ill()) == 0 {
		return
	}
	if s.ClientTLS != nil {
		c.usable(ctx, "spec.etcd.clientTLS.serverSecretRef", s.ClientTLS.ServerSecretRef)
		c.usable(ctx, "spec.etcd.clientTLS.clientSecretRef", s.ClientTLS.ClientSecretRef)
	}
	if s.PeerTLS != nil {
		c.usable(ctx, "spec.etcd.peerTLS.secretRef", s.PeerTLS.SecretRef)
	}
}

func (c *cycle) usable(ctx context.Context, field string, ref v1alpha1.LocalRef) {
	if _, err := c.secret(ctx, field, ref); err != nil {
		c.fail(v1alpha1.ErrReadTLS, oneLine(err))
		c.soon(busy)
	}
}

var errNoCA = errors.New("ca.crt holds no certificate")

func tlsOf(data map[string][]byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("tls.crt and tls.key: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[corev1.ServiceAccountRootCAKey]) {
		return nil, errNoCA
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
