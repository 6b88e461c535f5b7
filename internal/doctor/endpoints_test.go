package doctor

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A configuration may name an address instead of a Service.
func TestWebhookAtAnAddress(t *testing.T) {
	c := healthy(t)
	api := c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	w, err := api.Get(context.Background(), "quorate-gate", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	address := "https://quorate-webhook.quorate-system.svc/gate"
	w.Webhooks[0].ClientConfig.Service, w.Webhooks[0].ClientConfig.URL = nil, &address
	if _, err := api.Update(context.Background(), w, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := c.examine(t)
	if got := r.check(t, "webhook-endpoints").Findings[0].Seen; got != "the webhook is called at "+address+", which no Service stands for" {
		t.Errorf("endpoints: %q", got)
	}
	want := "the certificate served at quorate-webhook.quorate-system.svc:443 is valid until 2026-03-07 12:00 UTC, for 6 days more"
	if got := r.check(t, "serving-certificate"); got.State != OK || got.Findings[0].Seen != want {
		t.Errorf("leaf: %+v, want %q", got, want)
	}
}

// Who has made a way to the webhook looks at what is served there.
func TestWebhookAddressGiven(t *testing.T) {
	c := healthy(t)
	c.config.Addresses = []string{"127.0.0.1:9443"}
	c.react("endpointslices", "list", errors.New("not needed"))
	want := "the certificate served at 127.0.0.1:9443 is valid until 2026-03-07 12:00 UTC, for 6 days more"
	if got := c.examine(t).check(t, "serving-certificate"); got.State != OK || got.Findings[0].Seen != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}
