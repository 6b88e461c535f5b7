package doctor

import (
	"context"
	"errors"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHealthyInstallation(t *testing.T) {
	r := healthy(t).examine(t)
	for _, c := range r.Checks {
		if c.State != OK || len(c.Findings) == 0 {
			t.Errorf("%s is %s: %+v", c.Name, c.State, c.Findings)
		}
	}
	if len(r.Checks) != len(questions) || r.Failed() {
		t.Errorf("%d checks of %d, failed: %v", len(r.Checks), len(questions), r.Failed())
	}
}

// Each fault is found by its own check, with these words.
func TestFaults(t *testing.T) {
	namespace := DefaultNames().Namespace
	status := func(code int32, reason metav1.StatusReason, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message}}
	}
	ctx := context.Background()
	for _, tc := range []struct {
		name, check string
		break_      func(*clinic) error
		state       State
		seen        string
	}{
		{"no webhook", "webhook-configuration", func(c *clinic) error {
			return c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, "quorate-gate", metav1.DeleteOptions{})
		}, Failed, "there is no ValidatingWebhookConfiguration quorate-gate, so the webhook is never asked"},
		{"no webhook, nowhere to look", "webhook-endpoints", func(c *clinic) error {
			return c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, "quorate-gate", metav1.DeleteOptions{})
		}, Unknown, "there is no webhook configuration that says where to look"},
		{"no CRD", "crds", func(c *clinic) error {
			return c.extensions.ApiextensionsV1().CustomResourceDefinitions().Delete(ctx, "etcds.quorate.dev", metav1.DeleteOptions{})
		}, Failed, "CRD etcds.quorate.dev is missing"},
		{"a policy less", "policies", func(c *clinic) error {
			return c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, "quorate-etcds", metav1.DeleteOptions{})
		}, Failed, "policy quorate-etcds is missing"},
		{"a binding less", "policies", func(c *clinic) error {
			return c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, "quorate-etcds", metav1.DeleteOptions{})
		}, Failed, "policy binding quorate-etcds is missing, so policy quorate-etcds is not enforced"},
		{"a binding that only warns", "policies", func(c *clinic) error {
			api := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
			b, err := api.Get(ctx, "quorate-etcds", metav1.GetOptions{})
			if err != nil {
				return err
			}
			b.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
			_, err = api.Update(ctx, b, metav1.UpdateOptions{})
			return err
		}, Failed, "policy binding quorate-etcds differs from this version's in validationActions"},
		{"no policy at all", "policies", func(c *clinic) error {
			for _, p := range c.config.Expected.Policies {
				if err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
					return err
				}
			}
			return nil
		}, Warning, "the policies are not installed: CRD rules and webhook judge alone"},
		{"no Deployment", "manager", func(c *clinic) error {
			return c.kube.AppsV1().Deployments(namespace).Delete(ctx, "quorate-manager", metav1.DeleteOptions{})
		}, Failed, "there is no Deployment quorate-system/quorate-manager"},
		{"no budget", "manager", func(c *clinic) error {
			return c.kube.PolicyV1().PodDisruptionBudgets(namespace).Delete(ctx, "quorate-manager", metav1.DeleteOptions{})
		}, Warning, "no PodDisruptionBudget covers the manager's pods, so a drain may take all of them at once"},
		{"no endpoints", "webhook-endpoints", func(c *clinic) error {
			return c.kube.DiscoveryV1().EndpointSlices(namespace).Delete(ctx, "quorate-webhook-1", metav1.DeleteOptions{})
		}, Failed, "Service quorate-system/quorate-webhook has no ready endpoint, so every gated change is refused"},
		{"no endpoints, no leaf", "serving-certificate", func(c *clinic) error {
			return c.kube.DiscoveryV1().EndpointSlices(namespace).Delete(ctx, "quorate-webhook-1", metav1.DeleteOptions{})
		}, Unknown, "there is no ready endpoint whose certificate could be seen"},
		{"out of reach", "serving-certificate", func(c *clinic) error { c.config.Leaves = leaves{err: errors.New("no route")}; return nil },
			Unknown, "the webhook at 10.1.2.3:9443 cannot be reached from here: no route"},
		{"no Secret", "certificate-authority", func(c *clinic) error {
			return c.kube.CoreV1().Secrets(namespace).Delete(ctx, "quorate-webhook-ca", metav1.DeleteOptions{})
		}, Failed, "there is no Secret quorate-system/quorate-webhook-ca, so no certificate can be signed"},
		{"silence", "webhook-answers", func(c *clinic) error { c.config.Prober = prober{}; return nil },
			Failed, "a dry run was allowed without a word of the webhook, so it is not asked"},
		{"silence for the controller", "webhook-answers", func(c *clinic) error { c.config.Prober = prober{user: DefaultNames().Controller()}; return nil },
			Unknown, "the webhook is not asked about changes by the controller, which you are"},
		{"other words", "webhook-answers", func(c *clinic) error { c.config.Prober = prober{warnings: []string{"even"}}; return nil },
			Warning, `a dry run was answered with other words than this version's webhook uses: ["even"]`},
		{"a dead webhook", "webhook-answers", func(c *clinic) error {
			c.config.Prober = prober{err: status(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "gate.quorate.dev": failed to call webhook: connection refused`)}
			return nil
		}, Failed, "the API server cannot get a verdict from the webhook: failed to call webhook: connection refused"},
		{"a webhook that refuses the probe", "webhook-answers", func(c *clinic) error {
			c.config.Prober = prober{err: status(403, metav1.StatusReasonForbidden, `admission webhook "gate.quorate.dev" denied the request: No. (newer-rule)`)}
			return nil
		}, Warning, "the webhook answers, but refuses what this version's allows: No. (newer-rule)"},
		{"no right to ask", "webhook-answers", func(c *clinic) error {
			c.config.Prober = prober{err: status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev is forbidden: User "alice" cannot create resource "etcds" in API group "quorate.dev" in the namespace "quorate-system"`)}
			return nil
		}, Unknown, `you may not ask: User "alice" cannot create resource "etcds" in API group "quorate.dev" in the namespace "quorate-system"`},
		{"a quota before the webhook", "webhook-answers", func(c *clinic) error {
			c.config.Prober = prober{err: status(403, metav1.StatusReasonForbidden, `etcds.quorate.dev "x" is forbidden: exceeded quota: few, requested: count/etcds.quorate.dev=1`)}
			return nil
		}, Unknown, "the dry run was refused before the webhook was asked, by layer quota: exceeded quota: few, requested: count/etcds.quorate.dev=1"},
		{"a kind that is not served", "webhook-answers", func(c *clinic) error {
			c.config.Prober = prober{err: status(404, metav1.StatusReasonNotFound, "the server could not find the requested resource")}
			return nil
		}, Failed, "the API server does not serve etcds.quorate.dev"},
		{"no answer at all", "webhook-answers", func(c *clinic) error { c.config.Prober = prober{err: context.DeadlineExceeded}; return nil },
			Unknown, "the webhook's answer could not be read: no answer within 5s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := healthy(t)
			if err := tc.break_(c); err != nil {
				t.Fatal(err)
			}
			check := c.examine(t).check(t, tc.check)
			has := slices.ContainsFunc(check.Findings, func(f Finding) bool { return f.Seen == tc.seen && f.State == tc.state && f.WayOut != "" })
			if check.State != tc.state || !has {
				t.Errorf("got %s %+v\nwant %s %q with a way out", check.State, check.Findings, tc.state, tc.seen)
			}
		})
	}
}
