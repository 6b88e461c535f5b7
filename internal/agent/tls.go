package agent

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// config reads the files; nil for none. It is called for every new client, so
// that replaced files are used from then on.
func (t *TLS) config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%w: tls.certFile and tls.keyFile: %w", ErrConfig, err)
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("%w: tls.caFile: %w", ErrConfig, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: tls.caFile: no certificate in %s", ErrConfig, t.CAFile)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
