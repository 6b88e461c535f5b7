package doctor

import (
	"context"
	"crypto/x509"
	"slices"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/internal/why"
)

// prober answers the dry run with what the test wants.
type prober struct {
	user     string
	warnings []string
	err      error
}

func (p prober) Whoami(context.Context) (authenticationv1.UserInfo, error) {
	return authenticationv1.UserInfo{Username: p.user}, nil
}

func (p prober) DryRun(context.Context, why.Target, why.Attempt) ([]string, error) {
	return p.warnings, p.err
}

// leaves serves one certificate everywhere, or none.
type leaves struct {
	served []*x509.Certificate
	err    error
}

func (l leaves) Leaf(context.Context, string, string) ([]*x509.Certificate, error) {
	return l.served, l.err
}

const advice = "spec.replicas: an even number"

const deployment = `
metadata: {name: quorate-manager, namespace: quorate-system}
spec: {replicas: 2, template: {metadata: {labels: {app: quorate}}}}
status: {readyReplicas: 2}
`

const budget = `
metadata: {name: quorate-manager, namespace: quorate-system}
spec: {minAvailable: 1, selector: {matchLabels: {app: quorate}}}
`

const endpoints = `
metadata: {name: quorate-webhook-1, namespace: quorate-system, labels: {kubernetes.io/service-name: quorate-webhook}}
ports: [{port: 9443}]
endpoints: [{addresses: [10.1.2.3], conditions: {ready: true}}, {addresses: [10.1.2.4]}, {addresses: [10.1.2.5], conditions: {ready: false}}]
`

// clinic is an installation in which all is well.
type clinic struct {
	kube       *fake.Clientset
	extensions *apiextensionsclient.Clientset
	config     Config
}

// authority is made once: an RSA key takes its time.
var authority = sync.OnceValues(func() (*certs.CA, error) { return certs.FoundCA(noon.Add(-day), noon.Add(364*day)) })

func healthy(t *testing.T) *clinic {
	t.Helper()
	ca, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := certs.SignLeaf(ca, certs.Names{DNS: []string{"quorate-webhook.quorate-system.svc"}}, noon.Add(-day), noon.Add(6*day))
	if err != nil {
		t.Fatal(err)
	}
	webhook := decode[admissionregistrationv1.ValidatingWebhookConfiguration](t, gate)
	webhook.Webhooks[0].ClientConfig.CABundle = ca.CertPEM
	objects := []runtime.Object{webhook, secretOf(certs.Authority{Current: ca}), decode[appsv1.Deployment](t, deployment),
		decode[policyv1.PodDisruptionBudget](t, budget), decode[discoveryv1.EndpointSlice](t, endpoints)}
	policies, bindings := ownPolicies(t)
	for i := range policies {
		objects = append(objects, served(policies[i]), bindings[i])
	}
	want, live := installed(t, "etcds.quorate.dev")
	_, machines := installed(t, "talosmachines.quorate.dev")
	c := &clinic{kube: fake.NewClientset(objects...), extensions: apiextensionsclient.NewClientset(live, machines)}
	c.kube.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: "v1.37.2"}
	expected := expectedScopes(t)
	expected.CRDs = append(expected.CRDs[:0], want, machines)
	expected.Policies, expected.Bindings, expected.Minors = policies, bindings, cel.SupportedMinors
	c.config = Config{Kube: c.kube, Extensions: c.extensions, Names: DefaultNames(), Expected: expected, Now: func() time.Time { return noon },
		Prober: prober{warnings: []string{"by others", advice}}, Leaves: leaves{served: []*x509.Certificate{leaf.Leaf}},
		Probe: Probe{Warning: advice, Target: why.Target{Namespace: "quorate-system", Resource: schema.GroupVersionResource{Group: "quorate.dev", Version: "v1alpha1", Resource: "etcds"}}}}
	return c
}

func (c *clinic) examine(t *testing.T) Report {
	t.Helper()
	r, err := Run(context.Background(), c.config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r Report) check(t *testing.T, name string) Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return r.Checks[i]
}

// react makes every such call fail.
func (c *clinic) react(resource, verb string, err error) {
	fail := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err }
	c.kube.PrependReactor(verb, resource, fail)
	c.extensions.PrependReactor(verb, resource, fail)
}
