package manager

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/quorate/quorate/webhooks"
)

// freeAddress is one on this host that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// testReplica is one whose API server is in memory.
func testReplica(t *testing.T, now clock.Clock, drain time.Duration) (*replica, Options) {
	t.Helper()
	o := Defaults()
	o.Config, o.Log, o.DrainDelay = &rest.Config{Host: "https://127.0.0.1:1"}, logr.Discard(), drain
	o.WebhookAddress, o.HealthAddress, o.MetricsAddress = freeAddress(t), freeAddress(t), freeAddress(t)
	client := fake.NewClientset(&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: o.Configuration, ResourceVersion: "1"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "gate.quorate.dev"}},
	})
	r, err := assemble(o, outside{client, newDriftBench(t).extensions, prometheus.NewRegistry(), now})
	if err != nil {
		t.Fatalf("assemble a replica: %v", err)
	}
	return r, o
}

// ask returns the status and the body, or 0 while nobody answers.
func ask(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatalf("make a request: %v", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read the answer of %s: %v", url, err)
	}
	return response.StatusCode, string(body)
}

// await asks until the answer has the status and the text.
func await(t *testing.T, url string, status int, text string) {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		got, body := ask(t, client, url)
		if got == status && strings.Contains(body, text) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s answers %d %q, want %d with %q", url, got, body, status, text)
		case <-tick.C:
		}
	}
}

// gateClient reaches the webhook as the API server does.
func gateClient(t *testing.T, r *replica, o Options) *http.Client {
	t.Helper()
	roots, err := r.keeper.Roots()
	if err != nil {
		t.Fatalf("read roots: %v", err)
	}
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: o.names().DNS[0]}}}
}

// A replica becomes ready, says that it drains when it is told to stop, answers
// the webhook meanwhile, and ends without an error.
func TestReplicaServesAndDrains(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Now())
	r, o := testReplica(t, now, time.Second)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	await(t, "http://"+o.HealthAddress+"/healthz", http.StatusOK, "ok")
	await(t, "http://"+o.HealthAddress+"/readyz", http.StatusOK, "ok")
	await(t, "http://"+o.MetricsAddress+"/metrics", http.StatusOK, `quorate_certificate_expiry_timestamp_seconds{certificate="serving"}`)
	stop()
	await(t, "http://"+o.HealthAddress+"/readyz", http.StatusServiceUnavailable, webhooks.ErrDraining.Error())
	if status, body := ask(t, gateClient(t, r, o), "https://"+o.WebhookAddress+webhooks.Path); status != http.StatusMethodNotAllowed {
		t.Errorf("the webhook answers %d %s while it drains, want %d", status, body, http.StatusMethodNotAllowed)
	}
	now.Step(o.DrainDelay)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("end = %v, want no error", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the replica did not end within a minute")
	}
}

// A drain delay of zero is none, and not the default.
func TestNoDrainDelay(t *testing.T) {
	r, o := testReplica(t, clock.RealClock{}, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	await(t, "http://"+o.HealthAddress+"/readyz", http.StatusOK, "ok")
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("end = %v, want no error", err)
		}
	case <-time.After(webhooks.DefaultDrainDelay * 2 / 3):
		t.Fatal("the replica drains all the same")
	}
}

func TestReplicaEndsWhenAPartCannotServe(t *testing.T) {
	r, o := testReplica(t, clock.RealClock{}, time.Millisecond)
	taken, err := net.Listen("tcp", o.HealthAddress)
	if err != nil {
		t.Fatalf("take the address: %v", err)
	}
	defer func() { _ = taken.Close() }()
	err = r.run(t.Context())
	if want := "listen for probes: listen tcp " + o.HealthAddress + ": bind: address already in use"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestRunRefusesOptions(t *testing.T) {
	o := Defaults()
	o.Config, o.Log = &rest.Config{Host: "https://127.0.0.1:1"}, logr.Discard()
	o.Certificates.Poll = 0
	if err := Run(t.Context(), o); err == nil || err.Error() != "certificate policy: poll interval must be above zero" {
		t.Errorf("error = %v, want the poll interval refused", err)
	}
	o.Namespace = ""
	if err := Run(t.Context(), o); err == nil || err.Error() != "manager options: no namespace" {
		t.Errorf("error = %v, want the namespace missing", err)
	}
}
