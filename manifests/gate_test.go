package manifests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	rulefiles "github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/cmd/quorate/manager"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/webhooks"
)

// asked lists what the configuration sends to the webhook.
func asked(c *admissionregistrationv1.ValidatingWebhookConfiguration) []string {
	var out []string
	for _, w := range c.Webhooks {
		for _, r := range w.Rules {
			for _, resource := range r.Resources {
				for _, operation := range r.Operations {
					out = append(out, fmt.Sprintf("%s %s", operation, resource))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// judged lists what a rule judges.
func judged(t *testing.T) []string {
	t.Helper()
	catalogue, err := cel.Load(rulefiles.FS, ".")
	if err != nil {
		t.Fatalf("load the rules: %v", err)
	}
	catalogue.Group = v1alpha1.Group
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatalf("load the CRDs: %v", err)
	}
	engine, err := cel.New(catalogue, crds)
	if err != nil {
		t.Fatalf("compile the rules: %v", err)
	}
	var out []string
	for _, crd := range crds {
		for subresource, operations := range served(crd) {
			for _, operation := range operations {
				if engine.Handles(crd.Spec.Names.Plural, operation, subresource) {
					out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s/%s", operation, crd.Spec.Names.Plural, subresource), "/"))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// served lists the operations that the API server has for each subresource.
func served(crd *apiextensionsv1.CustomResourceDefinition) map[string][]cel.Operation {
	out := map[string][]cel.Operation{cel.Main: {cel.Create, cel.Update, cel.Delete}}
	if s := crd.Spec.Versions[0].Subresources; s != nil && s.Status != nil {
		out[cel.Status] = []cel.Operation{cel.Update}
	}
	if s := crd.Spec.Versions[0].Subresources; s != nil && s.Scale != nil {
		out[cel.Scale] = []cel.Operation{cel.Update}
	}
	return out
}

// The webhook is asked where a rule judges, and nowhere else: what no rule judges
// must not wait for it, a deleted namespace least of all.
func TestTheWebhookIsAskedWhereARuleJudges(t *testing.T) {
	got, want := asked(only[*admissionregistrationv1.ValidatingWebhookConfiguration](t)), judged(t)
	if !slices.Equal(got, want) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheWebhookFailsClosedForOwnObjectsAlone(t *testing.T) {
	for _, w := range only[*admissionregistrationv1.ValidatingWebhookConfiguration](t).Webhooks {
		if *w.FailurePolicy != admissionregistrationv1.Fail || *w.MatchPolicy != admissionregistrationv1.Equivalent ||
			*w.SideEffects != admissionregistrationv1.SideEffectClassNone || *w.TimeoutSeconds != 5 {
			t.Errorf("%s: failure policy %s, match policy %s, side effects %s, timeout %d s; want Fail, Equivalent, None, 5 s",
				w.Name, *w.FailurePolicy, *w.MatchPolicy, *w.SideEffects, *w.TimeoutSeconds)
		}
		if w.NamespaceSelector != nil || w.ObjectSelector != nil {
			t.Errorf("%s has a selector: a label would be a way around it", w.Name)
		}
		for _, r := range w.Rules {
			if !slices.Equal(r.APIGroups, []string{v1alpha1.Group}) || *r.Scope != admissionregistrationv1.NamespacedScope {
				t.Errorf("%s is asked for groups %v in scope %s", w.Name, r.APIGroups, *r.Scope)
			}
		}
	}
}

// The identity is written in five places, and is the same in all.
func TestOneIdentity(t *testing.T) {
	account := only[*corev1.ServiceAccount](t)
	o := manager.Defaults()
	if account.Namespace != o.Namespace || account.Name != o.ServiceAccount {
		t.Errorf("ServiceAccount %s/%s, want the manager's %s/%s", account.Namespace, account.Name, o.Namespace, o.ServiceAccount)
	}
	configuration := only[*admissionregistrationv1.ValidatingWebhookConfiguration](t)
	if configuration.Name != o.Configuration {
		t.Errorf("configuration %s, want the manager's %s", configuration.Name, o.Configuration)
	}
	for _, w := range configuration.Webhooks {
		want := fmt.Sprintf("request.userInfo.username != '%s'", o.Identity())
		if len(w.MatchConditions) != 1 || w.MatchConditions[0].Expression != want {
			t.Errorf("%s: match conditions %v, want %s alone", w.Name, w.MatchConditions, want)
		}
	}
	exempting := 0
	for _, p := range all[*admissionregistrationv1.ValidatingAdmissionPolicy](t) {
		for _, c := range p.Spec.MatchConditions {
			if strings.Contains(c.Expression, "system:serviceaccount:") {
				exempting++
				if !strings.Contains(c.Expression, "'"+o.Identity()+"'") && !strings.Contains(c.Expression, `"`+o.Identity()+`"`) {
					t.Errorf("%s: match condition %s, want one for %s", p.Name, c.Expression, o.Identity())
				}
			}
		}
	}
	if exempting == 0 {
		t.Error("no policy leaves out the controller")
	}
}

func TestTheServiceLeadsToTheWebhook(t *testing.T) {
	service, o := only[*corev1.Service](t), manager.Defaults()
	if service.Name != o.Service || service.Namespace != o.Namespace {
		t.Errorf("service %s/%s, want the manager's %s/%s", service.Namespace, service.Name, o.Namespace, o.Service)
	}
	for _, w := range only[*admissionregistrationv1.ValidatingWebhookConfiguration](t).Webhooks {
		c := w.ClientConfig
		if c.Service == nil || c.Service.Name != service.Name || c.Service.Namespace != service.Namespace ||
			*c.Service.Path != webhooks.Path || *c.Service.Port != service.Spec.Ports[0].Port {
			t.Errorf("%s calls %+v, want service %s/%s, port %d, path %s", w.Name, c.Service, service.Namespace, service.Name, service.Spec.Ports[0].Port, webhooks.Path)
		}
		if len(c.CABundle) != 0 {
			t.Errorf("%s carries a CA bundle: applying it would undo the manager's", w.Name)
		}
	}
}
