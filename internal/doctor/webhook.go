package doctor

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxTimeout is the longest that a user waits for a webhook that is down, in
// seconds.
const maxTimeout = 5

const reinstall = "Install the configuration of this version: kubectl apply -k manifests/default."

func (c Config) webhook(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, *Finding) {
	name := c.Names.Webhook
	missing := Finding{Failed, fmt.Sprintf("there is no ValidatingWebhookConfiguration %s, so the webhook is never asked", name), reinstall}
	return one(ctx, c, "the ValidatingWebhookConfiguration "+name, "get validatingwebhookconfigurations.admissionregistration.k8s.io", missing,
		func(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
			return c.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
		})
}

// installed is the configuration for checks that look at what is behind it: that
// there is none is for checkWebhook to tell.
func (c Config) installed(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, *Finding) {
	configuration, problem := c.webhook(ctx)
	if problem != nil && problem.State == Failed {
		problem = &Finding{Unknown, "there is no webhook configuration that says where to look", "Look at the check webhook-configuration."}
	}
	return configuration, problem
}

func checkWebhook(ctx context.Context, c Config) []Finding {
	configuration, problem := c.webhook(ctx)
	if problem != nil {
		return []Finding{*problem}
	}
	return JudgeWebhook(ctx, configuration, c.Names.Controller(), c.Expected)
}

// JudgeWebhook compares the configuration with what keeps the gate closed: each
// entry's settings, who is left out, and what is covered.
func JudgeWebhook(ctx context.Context, w *admissionregistrationv1.ValidatingWebhookConfiguration, controller string, e Expected) []Finding {
	if len(w.Webhooks) == 0 {
		return []Finding{{Failed, fmt.Sprintf("ValidatingWebhookConfiguration %s has no entry", w.Name), reinstall}}
	}
	var findings []Finding
	for _, entry := range w.Webhooks {
		findings = append(findings, judgeSettings(entry)...)
		findings = append(findings, judgeSelectors(entry)...)
		findings = append(findings, judgeExemption(ctx, entry, controller)...)
	}
	findings = append(findings, judgeCoverage(w.Webhooks, e)...)
	if len(findings) == 0 {
		return []Finding{{State: OK, Seen: fmt.Sprintf("%s is fail-closed, waits at most %d s, covers every rule and leaves out %s alone", w.Name, longest(w.Webhooks), controller)}}
	}
	return findings
}

func longest(entries []admissionregistrationv1.ValidatingWebhook) int32 {
	var seconds int32
	for _, e := range entries {
		seconds = max(seconds, timeoutOf(e))
	}
	return seconds
}

// timeoutOf fills in the API server's default.
func timeoutOf(e admissionregistrationv1.ValidatingWebhook) int32 {
	if e.TimeoutSeconds == nil {
		return 10
	}
	return *e.TimeoutSeconds
}

func judgeSettings(e admissionregistrationv1.ValidatingWebhook) []Finding {
	var findings []Finding
	add := func(bad bool, state State, seen string, args ...any) {
		if bad {
			findings = append(findings, Finding{state, e.Name + " " + fmt.Sprintf(seen, args...), reinstall})
		}
	}
	policy, equivalent := e.FailurePolicy, e.MatchPolicy
	add(policy != nil && *policy != admissionregistrationv1.Fail, Failed,
		"has another failurePolicy than Fail: whoever stops the manager opens the gate")
	add(timeoutOf(e) > maxTimeout, Warning, "waits %d s for an answer, want at most %d", timeoutOf(e), maxTimeout)
	add(equivalent != nil && *equivalent != admissionregistrationv1.Equivalent, Failed,
		"has another matchPolicy than Equivalent: another API version goes past it")
	add(e.SideEffects == nil || *e.SideEffects != admissionregistrationv1.SideEffectClassNone, Warning,
		"does not say that it has no side effects, so a dry run is refused")
	add(!slices.Contains(e.AdmissionReviewVersions, "v1"), Failed, "does not accept AdmissionReview v1")
	return findings
}

func judgeSelectors(e admissionregistrationv1.ValidatingWebhook) []Finding {
	var findings []Finding
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", e.NamespaceSelector}, {"objectSelector", e.ObjectSelector}} {
		if s.selector != nil && len(s.selector.MatchLabels)+len(s.selector.MatchExpressions) > 0 {
			findings = append(findings, Finding{Failed,
				fmt.Sprintf("%s has a %s: whoever may set labels goes past it", e.Name, s.name), reinstall})
		}
	}
	return findings
}
