package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/certs"
)

const day = 24 * time.Hour

func checkAuthority(ctx context.Context, c Config) []Finding {
	configuration, problem := c.installed(ctx)
	if problem != nil {
		return []Finding{*problem}
	}
	findings := judgeBundles(configuration, c.Now())
	name := c.Names.Namespace + "/" + c.Names.CASecret
	missing := Finding{Failed, fmt.Sprintf("there is no Secret %s, so no certificate can be signed", name),
		"The manager makes one when it runs: look at the check manager."}
	secret, problem := one(ctx, c, "the Secret "+name, fmt.Sprintf("get secrets %s in %s", c.Names.CASecret, c.Names.Namespace), missing,
		func(ctx context.Context) (*corev1.Secret, error) {
			return c.Kube.CoreV1().Secrets(c.Names.Namespace).Get(ctx, c.Names.CASecret, metav1.GetOptions{})
		})
	if problem != nil {
		return append(findings, *problem)
	}
	return append(findings, JudgeAuthority(secret, configuration, c.Now())...)
}

// judgeBundles looks at what every entry trusts, which needs no right to read the
// Secret.
func judgeBundles(w *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) []Finding {
	var findings []Finding
	for _, e := range w.Webhooks {
		var last time.Time
		for _, c := range parse(e.ClientConfig.CABundle) {
			if c.NotAfter.After(last) {
				last = c.NotAfter
			}
		}
		if now.Before(last) {
			continue
		}
		seen := fmt.Sprintf("%s trusts no certificate authority", e.Name)
		if !last.IsZero() {
			seen = fmt.Sprintf("%s trusts no certificate authority that is still valid; the last expired %s", e.Name, date(last))
		}
		findings = append(findings, Finding{Failed, seen, "The manager puts the bundle there when it runs: look at the check manager."})
	}
	return findings
}

// JudgeAuthority holds the Secret's authority against what the configuration
// trusts. A lifetime is judged by its share that is left: two thirds are when the
// manager renews.
func JudgeAuthority(s *corev1.Secret, w *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) []Finding {
	authority := certs.AuthorityOf(s, now)
	if authority.Current == nil {
		return []Finding{{Failed, fmt.Sprintf("Secret %s/%s holds no certificate authority that could sign now", s.Namespace, s.Name),
			"The manager replaces it when it runs: look at the check manager."}}
	}
	findings := judgeTrust(authority, certs.LiveOf(w).Trusted())
	findings = append(findings, judgeLife("the certificate authority", authority.Current.Cert, authority.Next != nil, now))
	return findings
}

func judgeTrust(a certs.Authority, trusted []*x509.Certificate) []Finding {
	const waits = "The manager puts it there when it runs: look at the check manager."
	switch {
	case !has(trusted, a.Current.Cert):
		return []Finding{{Failed, "the webhook configuration does not trust the certificate authority that signs, so the API server refuses its certificates", waits}}
	case a.Next != nil && !has(trusted, a.Next.Cert):
		return []Finding{{Warning, "the next certificate authority is not in the webhook configuration yet", waits}}
	}
	for _, previous := range a.Previous {
		if !has(trusted, previous) {
			return []Finding{{Warning, "the webhook configuration does not trust the previous certificate authority any more, whose certificates may still be served", waits}}
		}
	}
	return []Finding{{State: OK, Seen: "the webhook configuration trusts the certificate authority that signs"}}
}

// overdue is the share of a lifetime that may be left before a renewal is late.
// Renewal is due at a third; the rest is for a manager that was just restarted.
const overdue = 4

// judgeLife gives the days that are left.
func judgeLife(what string, c *x509.Certificate, succeeded bool, now time.Time) Finding {
	left, life := c.NotAfter.Sub(now), c.NotAfter.Sub(c.NotBefore)
	seen := fmt.Sprintf("%s is valid until %s, for %s more", what, date(c.NotAfter), days(left))
	switch {
	case left <= 0:
		return Finding{Failed, fmt.Sprintf("%s expired %s", what, date(c.NotAfter)), "The manager renews it when it runs: look at the check manager."}
	case now.Before(c.NotBefore):
		return Finding{Failed, fmt.Sprintf("%s is valid only from %s", what, date(c.NotBefore)), "Compare the clocks of this machine and of the manager's nodes."}
	case left < life/overdue && !succeeded:
		return Finding{Warning, seen + ", and its renewal is overdue", "The manager renews it when it runs: look at the check manager and at its logs."}
	}
	return Finding{State: OK, Seen: seen}
}

func days(d time.Duration) string {
	switch n := int(d / day); n {
	case 0:
		return fmt.Sprintf("%d hours", int(d/time.Hour))
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

func parse(bundle []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	return all
}

func has(set []*x509.Certificate, c *x509.Certificate) bool {
	for _, other := range set {
		if other.Equal(c) {
			return true
		}
	}
	return false
}
