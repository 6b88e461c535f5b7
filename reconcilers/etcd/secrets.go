package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errTLS marks a Secret that cannot be used. The error names it and what it lacks.
var errTLS = errors.New("TLS of the etcd clients")

// tls reads the client certificate anew each time: Secrets are renewed while we run.
// Nil for plain HTTP.
func (c *cycle) tls(ctx context.Context) (*tls.Config, error) {
	settings := c.names.settings().ClientTLS
	if settings == nil {
		return nil, nil
	}
	name := settings.ClientSecretRef.Name
	secret := &corev1.Secret{}
	if err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.etcd.Namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("%w: spec.etcd.clientTLS.clientSecretRef: %w", errTLS, err)
	}
	config, err := tlsOf(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %s: %w", errTLS, name, err)
	}
	return config, nil
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
