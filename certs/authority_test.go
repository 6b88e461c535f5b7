package certs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSecretRoundTrip(t *testing.T) {
	one, two, old := ca(t, 0, 300), ca(t, 200, 500), ca(t, -100, 200)
	full := Authority{Current: one, Next: two, Previous: set(old), PublishedAt: at(1.25), PromotedAt: at(2.5), Rotate: true}
	secret := full.Write(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{AnnotationRotate: "please", "example.com/other": "kept"},
		Labels:      map[string]string{"kept": "too"},
	}, Type: corev1.SecretTypeOpaque})
	got := AuthorityOf(secret, at(3))
	if !got.Current.Cert.Equal(one.Cert) || !got.Next.Cert.Equal(two.Cert) || !sameSet(got.Previous, set(old)) ||
		!got.PublishedAt.Equal(at(1.25)) || !got.PromotedAt.Equal(at(2.5)) || !got.Rotate {
		t.Errorf("read back = %+v, want %+v", got, full)
	}
	if secret.Annotations["example.com/other"] != "kept" || secret.Labels["kept"] != "too" || secret.Type != corev1.SecretTypeOpaque {
		t.Errorf("secret = %+v, want what others wrote kept, of type %s", secret, corev1.SecretTypeOpaque)
	}

	full.Rotate, full.Next, full.Previous = false, nil, nil
	secret = full.withdraw().Write(secret)
	for _, gone := range []string{AnnotationRotate, AnnotationPublished} {
		if v, ok := secret.Annotations[gone]; ok {
			t.Errorf("annotation %s = %q, want none", gone, v)
		}
	}
	if len(secret.Data) != 2 {
		t.Errorf("secret has %d keys, want the current pair alone", len(secret.Data))
	}
}

func TestAuthorityOfDamage(t *testing.T) {
	one, other, expired := ca(t, 0, 300), ca(t, 0, 300), ca(t, -300, -1)
	for _, c := range []struct {
		name           string
		cert, key      []byte
		annotations    map[string]string
		usable         bool
		previous       int
		publishedKnown bool
	}{
		{"good", one.CertPEM, one.KeyPEM, map[string]string{AnnotationPublished: "2026-03-01T12:00:00Z"}, true, 0, true},
		{"damaged time", one.CertPEM, one.KeyPEM, map[string]string{AnnotationPublished: "yesterday"}, true, 0, false},
		{"key of another: its leaves may be in use", one.CertPEM, other.KeyPEM, nil, false, 1, false},
		{"expired", expired.CertPEM, expired.KeyPEM, nil, false, 1, false},
		{"no certificate", nil, one.KeyPEM, nil, false, 0, false},
		{"garbage", []byte("garbage"), []byte("garbage"), nil, false, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := AuthorityOf(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations},
				Data:       map[string][]byte{corev1.TLSCertKey: c.cert, corev1.TLSPrivateKeyKey: c.key},
			}, at(1))
			if (a.Current != nil) != c.usable || len(a.Previous) != c.previous || !a.PublishedAt.IsZero() != c.publishedKnown {
				t.Errorf("usable %t, %d previous, published %t; want %t, %d, %t", a.Current != nil, len(a.Previous),
					!a.PublishedAt.IsZero(), c.usable, c.previous, c.publishedKnown)
			}
		})
	}
}

func TestUnusableParts(t *testing.T) {
	one := ca(t, 0, 300)
	leaf, err := SignLeaf(one, Names{DNS: []string{"gate.example.com"}}, at(0), at(1))
	if err != nil {
		t.Fatalf("sign a leaf: %v", err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatalf("encode the leaf's key: %v", err)
	}
	_, err = ParseCA(encodeBundle([]*x509.Certificate{leaf.Leaf}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	if want := "unusable certificate authority: gate.example.com may not sign"; !errors.Is(err, ErrCA) || err.Error() != want {
		t.Errorf("a leaf as CA: error = %v, want %s", err, want)
	}
	if _, err := ParseCA(one.CertPEM, []byte("garbage")); !errors.Is(err, ErrCA) {
		t.Errorf("garbage as key: error = %v, want %v", err, ErrCA)
	}
	if _, err := SignLeaf(one, Names{}, at(0), at(1)); !errors.Is(err, ErrNames) {
		t.Errorf("leaf without names: error = %v, want %v", err, ErrNames)
	}
}

func TestAccepted(t *testing.T) {
	one, two := ca(t, 0, 300), ca(t, 0, 300)
	both := liveWith(set(one, two))
	for _, c := range []struct {
		name string
		a    Authority
		live Live
		want int
	}{
		{"the first one needs no grace: nobody was served before", Authority{Current: one}, liveWith(set(one)), 1},
		{"it is not in the configuration yet", Authority{Current: one}, liveWith(nil), 0},
		{"one entry lacks it", Authority{Current: one}, liveWith(set(one), nil), 0},
		{"began anew while another was served", Authority{Current: two, Previous: set(one)}, both, 1},
		{"began anew, the grace runs", Authority{Current: two, Previous: set(one), PublishedAt: at(0.5), SeenAt: at(0.5)}, both, 1},
		{"began anew and settled", Authority{Current: two, Previous: set(one), PublishedAt: at(0), SeenAt: at(0)}, both, 2},
		{"a rotation runs", Authority{Current: one, Next: two}, both, 2},
		{"no configuration, nobody calls", Authority{Current: one}, Live{}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.a.Accepted(c.live, at(1), testPolicy()); len(got) != c.want {
				t.Errorf("accepted = %d authorities, want %d", len(got), c.want)
			}
		})
	}
}
