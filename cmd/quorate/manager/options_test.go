package manager

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"defaults", func(*Options) {}, ""},
		{"namespace", func(o *Options) { o.Namespace = "" }, "manager options: no namespace"},
		{"service account", func(o *Options) { o.ServiceAccount = "" }, "manager options: no service account"},
		{"service", func(o *Options) { o.Service = "" }, "manager options: no service"},
		{"configuration", func(o *Options) { o.Configuration = "" }, "manager options: no webhook configuration"},
		{"secret", func(o *Options) { o.Secret = "" }, "manager options: no certificate secret"},
		{"webhook", func(o *Options) { o.WebhookAddress = "" }, "manager options: no webhook address"},
		{"health", func(o *Options) { o.HealthAddress = "" }, "manager options: no health address"},
		{"metrics", func(o *Options) { o.MetricsAddress = "" }, "manager options: no metrics address"},
		{"learner", func(o *Options) { o.LearnerGrace = 0 }, "manager options: learner grace 0s is not above zero"},
		{"unknown member", func(o *Options) { o.UnknownMemberGrace = 0 }, "manager options: unknown member grace 0s is not above zero"},
		{"restore hold", func(o *Options) { o.RestoreHold = time.Second }, "manager options: restore hold 1s is below 30s"},
		{"drain", func(o *Options) { o.DrainDelay = -time.Second }, "manager options: drain delay -1s is below zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Defaults()
			c.change(&o)
			err := o.Validate()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case c.want != "" && (!errors.Is(err, ErrOptions) || err.Error() != c.want):
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	o := Defaults()
	o.DNSNames = []string{"gate.example.com"}
	if got, want := o.Identity(), "system:serviceaccount:quorate-system:quorate-controller"; got != want {
		t.Errorf("identity = %s, want %s", got, want)
	}
	want := []string{"quorate-webhook.quorate-system.svc", "quorate-webhook.quorate-system.svc.cluster.local", "gate.example.com"}
	if got := o.names().DNS; !slices.Equal(got, want) {
		t.Errorf("names = %v, want %v", got, want)
	}
}
