package talos

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v3"
)

// edited is the real bundle with one field changed, or without it if value is nil.
func edited(t *testing.T, value any, path ...string) []byte {
	t.Helper()
	data, err := bundleYAML()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	at := tree
	for _, key := range path[:len(path)-1] {
		at = at[key].(map[string]any)
	}
	last := path[len(path)-1]
	if at[last] = value; value == nil {
		delete(at, last)
	}
	data, err = yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withLeaf has the certificate of a client in the place of the authority's.
func withLeaf(t *testing.T) []byte {
	t.Helper()
	b := loadBundle(t)
	leaf, err := b.secrets.GenerateTalosAPIClientCertificate(role.MakeSet(role.Admin))
	if err != nil {
		t.Fatal(err)
	}
	return edited(t, map[string]any{
		"crt": base64.StdEncoding.EncodeToString(leaf.Crt), "key": base64.StdEncoding.EncodeToString(leaf.Key),
	}, "certs", "os")
}

func TestBadBundles(t *testing.T) {
	other := otherAuthority(t)
	otherCrt := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate[0]}))
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "it is empty"},
		{"white space", []byte(" \n"), "it is empty"},
		{"no YAML", []byte("certs: [\n"), "it is no YAML: yaml: line 1: did not find expected node content"},
		{"a text", []byte("c2VjcmV0"), "it is not built as talosctl gen secrets builds it"},
		{"another structure", edited(t, "c2VjcmV0", "certs", "os"), "it is not built as talosctl gen secrets builds it"},
		{"another structure elsewhere", edited(t, "c2VjcmV0", "certs", "k8s"), "it is not built as talosctl gen secrets builds it"},
		{"no cluster", edited(t, nil, "cluster"), "cluster.id is missing"},
		{"no cluster ID", edited(t, nil, "cluster", "id"), "cluster.id is missing"},
		{"no certificates", edited(t, nil, "certs"), "certs.os, the authority of Talos, is missing"},
		{"no Talos", edited(t, nil, "certs", "os"), "certs.os, the authority of Talos, is missing"},
		{"no etcd", edited(t, nil, "certs", "etcd"), "certs.etcd, the authority of etcd, is missing"},
		{"no certificate", edited(t, nil, "certs", "os", "crt"), "certs.os.crt is missing"},
		{"no key", edited(t, nil, "certs", "etcd", "key"), "certs.etcd.key is missing"},
		{"a key that was taken out", edited(t, "******", "certs", "os", "key"), "certs.os.key is not base64: illegal base64 data at input byte 0"},
		{"no PEM", edited(t, "c2VjcmV0", "certs", "os", "crt"), "certs.os.crt and certs.os.key are no pair: tls: failed to find any PEM data in certificate input"},
		{"of two authorities", edited(t, otherCrt, "certs", "os", "crt"), "certs.os.crt and certs.os.key are no pair: tls: private key does not match public key"},
		{"no authority", withLeaf(t), "certs.os.crt is no certificate of an authority"},
		{"broken elsewhere", edited(t, map[string]any{"crt": "?", "key": "?"}, "certs", "k8s"), "it is no YAML: illegal base64 data at input byte 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := LoadBundle(c.data)
			want := "the secrets bundle cannot be used: " + c.want
			if !errors.Is(err, ErrBundle) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if err != nil && strings.Contains(err.Error(), "c2VjcmV0") {
				t.Error("the message has a value of the bundle")
			}
		})
	}
}
