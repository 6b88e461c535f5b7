package snapshot

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// bundle is what this package needs of a secrets bundle, as it is written there.
type bundle struct {
	Cluster struct {
		ID     string `yaml:"id"`
		Secret string `yaml:"secret"`
	} `yaml:"cluster"`
	Secrets struct {
		Secretbox string `yaml:"secretboxencryptionsecret"`
		// AESCBC is what a bundle from before Talos 1.3 has instead.
		AESCBC string `yaml:"aescbcencryptionsecret"`
	} `yaml:"secrets"`
	Certs struct {
		Etcd authority `yaml:"etcd"`
		K8s  authority `yaml:"k8s"`
		OS   authority `yaml:"os"`
	} `yaml:"certs"`
}

type authority struct {
	Crt string `yaml:"crt"`
}

func readBundle(data []byte) (*bundle, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrBundle)
	}
	read := &bundle{}
	err := yaml.Unmarshal(data, read)
	if _, ok := errors.AsType[*yaml.TypeError](err); ok {
		// What a type error quotes may be part of a key.
		return nil, fmt.Errorf("%w: it is not built as talosctl gen secrets builds it", ErrBundle)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is no YAML", ErrBundle)
	}
	return read, nil
}

// What may be wrong with a field.
var (
	errMissing       = errors.New("is missing")
	errNoBase64      = errors.New("is not base64")
	errNoCertificate = errors.New("is no certificate in PEM")
)
