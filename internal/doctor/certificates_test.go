package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/certs"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func found(t *testing.T, from, to time.Time) *certs.CA {
	t.Helper()
	ca, err := certs.FoundCA(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func trusting(cas ...*certs.CA) *admissionregistrationv1.ValidatingWebhookConfiguration {
	var bundle []byte
	for _, ca := range cas {
		bundle = append(bundle, ca.CertPEM...)
	}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{{
		Name: "gate.quorate.dev", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: bundle}}}}
}

func secretOf(a certs.Authority) *corev1.Secret {
	return a.Write(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "quorate-system", Name: "quorate-webhook-ca"}})
}

func TestJudgeAuthority(t *testing.T) {
	year := found(t, noon.Add(-100*day), noon.Add(265*day))
	old := found(t, noon.Add(-300*day), noon.Add(65*day))
	expired := found(t, noon.Add(-400*day), noon.Add(-35*day))
	const trusts = "the webhook configuration trusts the certificate authority that signs"
	const waits = "The manager puts it there when it runs: look at the check manager."
	for _, tc := range []struct {
		name      string
		authority certs.Authority
		trusted   []*certs.CA
		want      []Finding
	}{
		{"good", certs.Authority{Current: year}, []*certs.CA{year}, []Finding{{State: OK, Seen: trusts},
			{State: OK, Seen: "the certificate authority is valid until 2026-11-21 12:00 UTC, for 265 days more"}}},
		{"not trusted", certs.Authority{Current: year}, []*certs.CA{old}, []Finding{
			{Failed, "the webhook configuration does not trust the certificate authority that signs, so the API server refuses its certificates", waits},
			{State: OK, Seen: "the certificate authority is valid until 2026-11-21 12:00 UTC, for 265 days more"}}},
		{"renewal overdue", certs.Authority{Current: old}, []*certs.CA{old}, []Finding{{State: OK, Seen: trusts},
			{Warning, "the certificate authority is valid until 2026-05-05 12:00 UTC, for 65 days more, and its renewal is overdue",
				"The manager renews it when it runs: look at the check manager and at its logs."}}},
		{"being renewed", certs.Authority{Current: old, Next: year}, []*certs.CA{old, year}, []Finding{{State: OK, Seen: trusts},
			{State: OK, Seen: "the certificate authority is valid until 2026-05-05 12:00 UTC, for 65 days more"}}},
		{"next not published", certs.Authority{Current: old, Next: year}, []*certs.CA{old}, []Finding{
			{Warning, "the next certificate authority is not in the webhook configuration yet", waits},
			{State: OK, Seen: "the certificate authority is valid until 2026-05-05 12:00 UTC, for 65 days more"}}},
		{"previous taken out too early", certs.Authority{Current: year, Previous: []*x509.Certificate{old.Cert}}, []*certs.CA{year}, []Finding{
			{Warning, "the webhook configuration does not trust the previous certificate authority any more, whose certificates may still be served", waits},
			{State: OK, Seen: "the certificate authority is valid until 2026-11-21 12:00 UTC, for 265 days more"}}},
		{"expired", certs.Authority{Current: expired}, []*certs.CA{expired}, []Finding{
			{Failed, "Secret quorate-system/quorate-webhook-ca holds no certificate authority that could sign now",
				"The manager replaces it when it runs: look at the check manager."}}},
		{"empty", certs.Authority{}, nil, []Finding{
			{Failed, "Secret quorate-system/quorate-webhook-ca holds no certificate authority that could sign now",
				"The manager replaces it when it runs: look at the check manager."}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := JudgeAuthority(secretOf(tc.authority), trusting(tc.trusted...), noon)
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestJudgeBundles(t *testing.T) {
	const way = "The manager puts the bundle there when it runs: look at the check manager."
	expired := found(t, noon.Add(-400*day), noon.Add(-35*day))
	for _, tc := range []struct {
		name    string
		trusted []*certs.CA
		want    []Finding
	}{
		{"one that is valid suffices", []*certs.CA{expired, found(t, noon.Add(-day), noon.Add(day))}, nil},
		{"expired", []*certs.CA{expired}, []Finding{{Failed, "gate.quorate.dev trusts no certificate authority that is still valid; the last expired 2026-01-25 12:00 UTC", way}}},
		{"none", nil, []Finding{{Failed, "gate.quorate.dev trusts no certificate authority", way}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := judgeBundles(trusting(tc.trusted...), noon); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestJudgeLeaf(t *testing.T) {
	ca, stranger := found(t, noon.Add(-100*day), noon.Add(265*day)), found(t, noon.Add(-100*day), noon.Add(265*day))
	const where, what = "10.1.2.3:9443", "the certificate served at 10.1.2.3:9443"
	const name = "quorate-webhook.quorate-system.svc"
	const refused = "Look at the check certificate-authority; the manager serves a new one within seconds of it."
	sign := func(ca *certs.CA, from, to time.Time, name string) []*x509.Certificate {
		leaf, err := certs.SignLeaf(ca, certs.Names{DNS: []string{name}}, from, to)
		if err != nil {
			t.Fatal(err)
		}
		return []*x509.Certificate{leaf.Leaf}
	}
	for _, tc := range []struct {
		name   string
		served []*x509.Certificate
		want   Finding
	}{
		{"good", sign(ca, noon.Add(-day), noon.Add(6*day), name),
			Finding{State: OK, Seen: what + " is valid until 2026-03-07 12:00 UTC, for 6 days more"}},
		{"overdue", sign(ca, noon.Add(-6*day), noon.Add(day), name),
			Finding{Warning, what + " is valid until 2026-03-02 12:00 UTC, for 1 day more, and its renewal is overdue", "The manager renews it when it runs: look at the check manager and at its logs."}},
		{"nearly gone", sign(ca, noon.Add(-6*day), noon.Add(5*time.Hour), name),
			Finding{Warning, what + " is valid until 2026-03-01 17:00 UTC, for 5 hours more, and its renewal is overdue", "The manager renews it when it runs: look at the check manager and at its logs."}},
		{"expired", sign(ca, noon.Add(-8*day), noon.Add(-day), name),
			Finding{Failed, what + " expired 2026-02-28 12:00 UTC", "The manager renews it when it runs: look at the check manager."}},
		{"from the future", sign(ca, noon.Add(day), noon.Add(8*day), name),
			Finding{Failed, what + " is valid only from 2026-03-02 12:00 UTC", "Compare the clocks of this machine and of the manager's nodes."}},
		{"signed by others", sign(stranger, noon.Add(-day), noon.Add(6*day), name),
			Finding{Failed, what + " is refused by the API server: x509: certificate signed by unknown authority", refused}},
		{"for another name", sign(ca, noon.Add(-day), noon.Add(6*day), "other.svc"),
			Finding{Failed, what + " is refused by the API server: x509: certificate is valid for other.svc, not " + name, refused}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := JudgeLeaf(tc.served, []*x509.Certificate{ca.Cert}, where, name, noon)
			if tc.name == "signed by others" { // two authorities of one name: Go adds its guess
				got.Seen = got.Seen[:min(len(got.Seen), len(tc.want.Seen))]
			}
			if got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestDialerReadsWhatIsServed(t *testing.T) {
	ca := found(t, noon.Add(-day), noon.Add(day))
	leaf, err := certs.SignLeaf(ca, certs.Names{DNS: []string{"quorate-webhook.quorate-system.svc"}}, noon.Add(-day), noon.Add(day))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*leaf}}
	server.StartTLS()
	defer server.Close()
	served, err := Dialer{}.Leaf(context.Background(), server.Listener.Addr().String(), "quorate-webhook.quorate-system.svc")
	if err != nil {
		t.Fatal(err)
	}
	if !served[0].Equal(leaf.Leaf) {
		t.Errorf("got the certificate of %s, want the one served, though it is expired and its authority unknown", served[0].Subject)
	}
}

// A server that accepts and then says nothing must not hold the examination.
func TestDialerKeepsToTheDeadline(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = Dialer{}.Leaf(ctx, listener.Addr().String(), "x")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}
