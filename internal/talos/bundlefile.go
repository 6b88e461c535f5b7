package talos

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
)

// bundleFile is what this package needs of the YAML, as it is written there, so
// that a complaint can name the field.
type bundleFile struct {
	Cluster struct {
		ID string `yaml:"id"`
	} `yaml:"cluster"`
	Certs struct {
		OS   authority `yaml:"os"`
		Etcd authority `yaml:"etcd"`
	} `yaml:"certs"`
}

// authority is a certificate and its key, each PEM in base64.
type authority struct {
	Crt string `yaml:"crt"`
	Key string `yaml:"key"`
}

func (f bundleFile) check() error {
	if f.Cluster.ID == "" {
		return errors.New("cluster.id is missing")
	}
	if err := f.Certs.OS.check("certs.os", "Talos"); err != nil {
		return err
	}
	return f.Certs.Etcd.check("certs.etcd", "etcd")
}

func (a authority) check(field, of string) error {
	if a == (authority{}) {
		return fmt.Errorf("%s, the authority of %s, is missing", field, of)
	}
	crt, err := decode(field+".crt", a.Crt)
	if err != nil {
		return err
	}
	key, err := decode(field+".key", a.Key)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(crt, key)
	if err != nil {
		return fmt.Errorf("%s.crt and %s.key are no pair: %w", field, field, err)
	}
	if !pair.Leaf.IsCA {
		return fmt.Errorf("%s.crt is no certificate of an authority", field)
	}
	return nil
}

func decode(field, value string) ([]byte, error) {
	if value == "" {
		return nil, fmt.Errorf("%s is missing", field)
	}
	decoded, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("%s is not base64: %w", field, err)
	}
	return decoded, nil
}
