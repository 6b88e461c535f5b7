package snapshot

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
)

// Fingerprints are those of a cluster's authorities: the SHA-256 of the certificate's
// DER, as "sha256:<hex>". A restored etcd holds objects that these have signed.
type Fingerprints struct {
	Etcd string `json:"etcd"`
	K8s  string `json:"k8s"`
	OS   string `json:"os"`
}

// ClusterID is that of the Talos cluster in a secrets bundle in YAML. It fails with
// ErrBundle.
func ClusterID(data []byte) (string, error) {
	b, err := readBundle(data)
	if err != nil {
		return "", err
	}
	return b.Cluster.ID, nil
}

// Authorities reads them from a secrets bundle in YAML. It fails with ErrBundle.
func Authorities(data []byte) (Fingerprints, error) {
	b, err := readBundle(data)
	if err != nil {
		return Fingerprints{}, err
	}
	var f Fingerprints
	for _, a := range []struct {
		field string
		crt   string
		to    *string
	}{{"certs.etcd.crt", b.Certs.Etcd.Crt, &f.Etcd}, {"certs.k8s.crt", b.Certs.K8s.Crt, &f.K8s}, {"certs.os.crt", b.Certs.OS.Crt, &f.OS}} {
		if *a.to, err = certificate(a.crt); err != nil {
			return Fingerprints{}, fmt.Errorf("%w: %s %w", ErrBundle, a.field, err)
		}
	}
	return f, nil
}

// certificate is the fingerprint of the first one in PEM, itself in base64.
func certificate(crt string) (string, error) {
	if crt == "" {
		return "", errMissing
	}
	text, err := base64.StdEncoding.DecodeString(crt)
	if err != nil {
		return "", errNoBase64
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return "", errNoCertificate
	}
	return fingerprint(block.Bytes), nil
}

// Changed names the authorities that are others now: "etcd", "k8s", "os".
func (f Fingerprints) Changed(now Fingerprints) (names []string) {
	for _, a := range []struct{ name, then, now string }{{"etcd", f.Etcd, now.Etcd}, {"k8s", f.K8s, now.K8s}, {"os", f.OS, now.OS}} {
		if a.then != a.now {
			names = append(names, a.name)
		}
	}
	return names
}
