package talos

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
)

// Bundle is a cluster's Talos secrets: what makes its client certificates. It is
// safe for use by many at once, and is shared by the nodes of a cluster.
type Bundle struct {
	secrets   *secrets.Bundle
	roots     *x509.CertPool
	etcdRoots *x509.CertPool

	mu     sync.Mutex
	issued map[Role]*tls.Certificate
}

// LoadBundle reads a secrets bundle in YAML, as `talosctl gen secrets` writes it. It
// fails with ErrBundle, which names the field and never a value.
func LoadBundle(data []byte) (*Bundle, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrBundle)
	}
	var file bundleFile
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, unreadable(err)
	}
	if err := file.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	// The clock is no part of the YAML, and a certificate made without one panics.
	read := &secrets.Bundle{Clock: secrets.NewClock()}
	if err := yaml.Unmarshal(data, read); err != nil {
		return nil, unreadable(err)
	}
	return &Bundle{
		secrets: read, roots: rootsOf(read.Certs.OS.Crt), etcdRoots: rootsOf(read.Certs.Etcd.Crt),
		issued: map[Role]*tls.Certificate{},
	}, nil
}

// rootsOf are those of an authority that has been checked.
func rootsOf(crt []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(crt)
	return pool
}

// unreadable leaves out what a type error quotes: it may be part of a key.
func unreadable(err error) error {
	if _, ok := errors.AsType[*yaml.TypeError](err); ok {
		return fmt.Errorf("%w: it is not built as talosctl gen secrets builds it", ErrBundle)
	}
	return fmt.Errorf("%w: it is no YAML: %w", ErrBundle, err)
}

// ClusterID is the ID of the Talos cluster, which is not the one of its etcd.
func (b *Bundle) ClusterID() string { return b.secrets.Cluster.ID }
