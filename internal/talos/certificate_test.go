package talos

import (
	"slices"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
)

// A bundle that was read from YAML has no clock of its own, and cannot make a
// certificate without one.
//
// covers: B-11
func TestBundleFromYAMLMakesCertificates(t *testing.T) {
	b := loadBundle(t)
	if b.secrets.Clock == nil {
		t.Fatal("the bundle has no clock")
	}
	for _, r := range []Role{Reader, Admin} {
		c, err := b.certificate(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Leaf.Subject.Organization; !slices.Equal(got, []string{string(r)}) {
			t.Errorf("the role is %v, want %s", got, r)
		}
		left, before := time.Until(c.Leaf.NotAfter), time.Since(c.Leaf.NotBefore)
		if left > certificateLife || left < certificateLife-time.Minute || before < clockSkew {
			t.Errorf("it is good since %s and for %s", before, left)
		}
	}
}

func TestCertificateIsRenewedBeforeItEnds(t *testing.T) {
	b := loadBundle(t)
	start := time.Now().Truncate(time.Second)
	at := func(passed time.Duration) string {
		b.secrets.Clock = secrets.NewFixedClock(start.Add(passed))
		c, err := b.certificate(Admin)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.SerialNumber.String()
	}
	first, last := at(0), at(certificateLife-renewBefore-time.Second)
	if first != last {
		t.Error("it was replaced long before its end")
	}
	if at(certificateLife-renewBefore) == first {
		t.Error("it was not replaced before its end")
	}
}

// A client goes on after its certificate has ended: the next connection has a new one.
func TestClientOutlivesItsCertificate(t *testing.T) {
	b := loadBundle(t)
	b.secrets.Clock = secrets.NewFixedClock(time.Now().Add(-24 * time.Hour))
	n := newNode(t, b, Options{Address: newServer(t, b, nil).address})
	b.secrets.Clock = secrets.NewClock()
	if v, err := n.Version(t.Context()); err != nil || v != "v1.13.9" {
		t.Errorf("got %s, %v", v, err)
	}
}

func TestNodeWithoutAddress(t *testing.T) {
	if _, err := NewNode(loadBundle(t), Options{}); err == nil || err.Error() != "make a Talos client: the node has no address" {
		t.Errorf("got %v", err)
	}
}

// BenchmarkCertificate is the time to make one, which a caller waits for once in
// 40 minutes.
func BenchmarkCertificate(b *testing.B) {
	bundle := loadBundle(b)
	for b.Loop() {
		if _, err := bundle.issue(Admin, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadBundle(b *testing.B) {
	for b.Loop() {
		loadBundle(b)
	}
}
