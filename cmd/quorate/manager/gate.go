package manager

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/webhooks"
)

// newGate judges by the rules of the CRDs that this binary carries, so that the
// webhook says what the API server says.
func newGate(o Options, engine *cel.Engine, crds []*apiextensionsv1.CustomResourceDefinition, metrics *webhooks.Metrics) (*webhooks.Gate, error) {
	resources, err := webhooks.ResourcesOf(crds)
	if err != nil {
		return nil, err
	}
	live, err := kube.NewLive(o.Config, v1alpha1.GroupVersion)
	if err != nil {
		return nil, err
	}
	access, err := kube.NewAccess(o.Config)
	if err != nil {
		return nil, err
	}
	return webhooks.New(webhooks.Options{
		Judge: engine, Resources: resources, Live: live, Access: access,
		Controller: o.Identity(), Metrics: metrics, Log: o.Log.WithName("gate"),
	})
}

// newEngine compiles them, once for the gate and the controllers.
func newEngine() (*cel.Engine, []*apiextensionsv1.CustomResourceDefinition, error) {
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("load the rules: %w", err)
	}
	catalogue.Group = v1alpha1.Group
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, nil, fmt.Errorf("load the CRDs: %w", err)
	}
	engine, err := cel.New(catalogue, crds)
	if err != nil {
		return nil, nil, fmt.Errorf("compile the rules: %w", err)
	}
	return engine, crds, nil
}
