package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"go.yaml.in/yaml/v3"
)

// bundleText is a bundle with nothing in it but what a key follows from.
const bundleText = "cluster: {id: aWQ=, secret: c2VjcmV0}\nsecrets: {secretboxencryptionsecret: Ym94}\n"

// The key follows from the bundle alone, and stays the same over versions: backups are
// read by it.
func TestTheKeyStaysTheSame(t *testing.T) {
	k, err := DeriveKey([]byte(bundleText))
	must(t, err)
	if want := "age126flrvs7fvmwyrcsp4lzpravlp88638nr0jn7ud2wnx40fscsylsmetk64"; k.Recipient() != want {
		t.Errorf("got %s, want %s", k.Recipient(), want)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(k.Recipient()))); k.Fingerprint() != want {
		t.Errorf("got %s, want %s", k.Fingerprint(), want)
	}
	old, err := DeriveKey([]byte(strings.Replace(bundleText, "secretboxencryptionsecret", "aescbcencryptionsecret", 1)))
	must(t, err)
	if old.Fingerprint() != k.Fingerprint() {
		t.Error("the secret of an older bundle makes another key")
	}
}

func TestEachFieldMakesAnotherKey(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		bundleText, strings.Replace(bundleText, "aWQ=", "aWR", 1), strings.Replace(bundleText, "c2VjcmV0", "c2VjcmV1", 1), strings.Replace(bundleText, "Ym94", "Ym95", 1),
		"cluster: {id: aWQ=c2, secret: VjcmV0}\nsecrets: {secretboxencryptionsecret: Ym94}\n",
	} {
		k, err := DeriveKey([]byte(text))
		must(t, err)
		if other, again := seen[k.Fingerprint()]; again {
			t.Errorf("%s and %s make one key", text, other)
		}
		seen[k.Fingerprint()] = text
	}
}

func TestBadBundles(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"nothing", " \n", "it is empty"},
		{"no YAML", "cluster: [\n", "it is no YAML"},
		{"a text", "c2VjcmV0", "it is not built as talosctl gen secrets builds it"},
		{"no cluster ID", strings.Replace(bundleText, "id: aWQ=,", "", 1), "cluster.id is missing"},
		{"no secret", strings.Replace(bundleText, ", secret: c2VjcmV0", "", 1), "cluster.secret is missing"},
		{"no secret of secretbox", strings.Replace(bundleText, "secretbox", "other", 1), "secrets.secretboxencryptionsecret is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DeriveKey([]byte(tt.data))
			if want := "the secrets bundle cannot be used: " + tt.want; !errors.Is(err, ErrBundle) || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// Nothing that prints a key prints its secret half.
func TestTheSecretIsNotPrinted(t *testing.T) {
	k := keyFor(t)
	secret := k.identity.String()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(format, k); strings.Contains(text, secret) || !strings.Contains(text, k.Fingerprint()) {
			t.Errorf("%s prints %s", format, text)
		}
	}
}

func TestAnotherKey(t *testing.T) {
	object, _ := sealed(t, summedOf(t, 4096), keyFor(t))
	other, err := DeriveKey([]byte(bundleText))
	must(t, err)
	want := "open the snapshot: the snapshot is encrypted to another key"
	if _, err := Verify(bytes.NewReader(object), other); !errors.Is(err, ErrKey) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	want = "the snapshot is encrypted to another key: there is neither a key nor a passphrase"
	if _, err := Open(bytes.NewReader(object), nil); !errors.Is(err, ErrKey) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Objects that a person encrypted by a passphrase are read, as long as that costs little:
// how much is written in the object.
//
// covers: C-37
func TestPassphrases(t *testing.T) {
	plain := summedOf(t, 4096)
	objects := map[int][]byte{}
	for _, factor := range []int{10, 11} {
		to, err := age.NewScryptRecipient("correct")
		must(t, err)
		to.SetWorkFactor(factor)
		objects[factor] = encrypted(t, plain, to)
	}
	for _, tt := range []struct {
		name    string
		factor  int
		keyring Keyring
		want    error
		text    string
	}{
		{"low", 10, Keyring{Passphrases: []string{"correct"}}, nil, ""},
		{"one of two, and a key", 10, Keyring{Key: keyFor(t), Passphrases: []string{"other", "correct"}}, nil, ""},
		{"wrong", 10, Keyring{Passphrases: []string{"other"}}, ErrKey, "open the snapshot: the snapshot is encrypted to another key"},
		{"no passphrase", 10, Keyring{Key: keyFor(t)}, ErrKey, "open the snapshot: the snapshot is encrypted to another key"},
		{"an empty one", 10, Keyring{Passphrases: []string{""}}, ErrKey, "the snapshot is encrypted to another key: a passphrase is empty"},
		{"more work", 11, Keyring{Passphrases: []string{"correct"}}, ErrWorkFactor, "open the snapshot: the passphrase needs more work than is allowed: work factor 11, and at most 10 is; encrypt it with less, or allow more"},
		{"more work allowed", 11, Keyring{Passphrases: []string{"correct"}, WorkFactor: 11}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.keyring.Verify(bytes.NewReader(objects[tt.factor]))
			if !errors.Is(err, tt.want) || (err != nil && err.Error() != tt.text) {
				t.Errorf("got %v, want %s", err, tt.text)
			}
		})
	}
	r, err := Open(bytes.NewReader(objects[10]), nil, "correct")
	must(t, err)
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened: %d bytes, %v", len(got), err)
	}
	// Whatever is allowed, the work of an object is bounded.
	dear := bytes.Replace(objects[10], []byte(" 10\n"), []byte(" 19\n"), 1)
	if _, err := (Keyring{Passphrases: []string{"correct"}, WorkFactor: 22}).Verify(bytes.NewReader(dear)); !errors.Is(err, ErrWorkFactor) {
		t.Errorf("got %v, want %v", err, ErrWorkFactor)
	}
}

// changedBundle has the certificate of one authority in the place of another's.
func changedBundle(t *testing.T, change func(certs map[string]any)) []byte {
	t.Helper()
	var tree map[string]any
	must(t, yaml.Unmarshal(bundleOf(t), &tree))
	change(tree["certs"].(map[string]any))
	data, err := yaml.Marshal(tree)
	must(t, err)
	return data
}

func TestAuthorities(t *testing.T) {
	then, err := Authorities(bundleOf(t))
	must(t, err)
	if then.Etcd == "" || then.K8s == "" || then.OS == "" || then.Etcd == then.K8s || then.K8s == then.OS {
		t.Errorf("got %+v", then)
	}
	now, err := Authorities(changedBundle(t, func(certs map[string]any) { certs["k8s"] = certs["etcd"] }))
	must(t, err)
	if got := then.Changed(now); len(got) != 1 || got[0] != "k8s" {
		t.Errorf("changed: %q, want k8s", got)
	}
	if got := then.Changed(then); got != nil {
		t.Errorf("changed: %q, want none", got)
	}
	for _, tt := range []struct {
		crt  any
		want string
	}{
		{"", "certs.k8s.crt is missing"}, {"?", "certs.k8s.crt is not base64"}, {"c2VjcmV0", "certs.k8s.crt is no certificate in PEM"},
	} {
		_, err := Authorities(changedBundle(t, func(certs map[string]any) { certs["k8s"] = map[string]any{"crt": tt.crt} }))
		if want := "the secrets bundle cannot be used: " + tt.want; !errors.Is(err, ErrBundle) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
