package doctor

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/why"
)

// Names are those of the installation's objects.
type Names struct {
	Namespace, ServiceAccount, Deployment string
	// Webhook is the ValidatingWebhookConfiguration's name, CASecret that of the
	// Secret with the certificate authority.
	Webhook, CASecret string
}

// DefaultNames are those of the manifests.
func DefaultNames() Names {
	return Names{
		Namespace: "quorate-system", ServiceAccount: "quorate-controller", Deployment: "quorate-manager",
		Webhook: "quorate-gate", CASecret: "quorate-webhook-ca",
	}
}

// Controller is the user name that the controller has towards the API server.
func (n Names) Controller() string {
	return "system:serviceaccount:" + n.Namespace + ":" + n.ServiceAccount
}

// Expected is what this version installs.
type Expected struct {
	Group    string
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	Policies []*admissionregistrationv1.ValidatingAdmissionPolicy
	Bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding
	// Handles reports whether the webhook has a rule for such requests.
	Handles func(resource string, operation cel.Operation, subresource string) bool
	// Minors are the supported minor versions of Kubernetes 1.
	Minors []int
}

// Prober asks the API server to judge a change without making it.
type Prober interface {
	Whoami(ctx context.Context) (authenticationv1.UserInfo, error)
	DryRun(ctx context.Context, t why.Target, a why.Attempt) (warnings []string, err error)
}

// Config is an examination's input.
type Config struct {
	Kube       kubernetes.Interface
	Extensions apiextensionsclient.Interface
	Prober     Prober
	Leaves     LeafReader
	// Addresses are where the webhook can be reached from here, as host:port, in
	// place of what the configuration names.
	Addresses []string
	Names     Names
	Expected  Expected
	// Probe is what the webhook is asked about.
	Probe Probe
	// Timeout bounds each call; 5 s if zero.
	Timeout time.Duration
	// Now is the clock; the system's if nil.
	Now func() time.Time
}

const defaultTimeout = 5 * time.Second

func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Leaves == nil {
		c.Leaves = Dialer{}
	}
	return c
}
