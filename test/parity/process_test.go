package parity

import (
	"context"
	"fmt"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/test/world"
)

// product is what is judged by: the rules, and the layers in process.
type product struct {
	rules  *cel.Catalogue
	crds   []*apiextensionsv1.CustomResourceDefinition
	engine *cel.Engine
	layers map[cel.Layer]cel.Layered
}

func newProduct() (*product, error) {
	p := &product{}
	var err error
	if p.rules, err = cel.Load(rules.FS, "."); err != nil {
		return nil, err
	}
	if p.crds, err = injected(p.rules); err != nil {
		return nil, err
	}
	if p.engine, err = cel.New(p.rules, p.crds); err != nil {
		return nil, err
	}
	crd, err := cel.NewCRDLayer(p.rules, p.crds)
	if err != nil {
		return nil, err
	}
	policies, _, err := cel.Policies(p.rules, world.ControllerUser)
	if err != nil {
		return nil, err
	}
	vap, err := cel.NewVAPLayer(p.rules, policies)
	p.layers = map[cel.Layer]cel.Layered{cel.LayerCRD: crd, cel.LayerWebhook: parity.Webhook(p.engine, world.ControllerUser), cel.LayerVAP: vap}
	return p, err
}

func injected(c *cel.Catalogue) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	return cel.Inject(c, crds)
}

// stock are all objects that are stored, by where a live read finds them: one by
// its name, and a namespace's list by none. Resource versions are by name too.
type stock struct {
	found    map[cel.LiveTarget]any
	versions map[cel.LiveTarget]string
}

func readStock(ctx context.Context, client dynamic.Interface, c *cel.Catalogue) (*stock, error) {
	s := &stock{found: map[cel.LiveTarget]any{}, versions: map[cel.LiveTarget]string{}}
	resources := map[string]bool{}
	for _, r := range c.Rules {
		resources[r.Resource] = true
	}
	for name := range maps.Keys(resources) {
		list, err := client.Resource(v1alpha1.GroupVersion.WithResource(name)).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("read what is stored: %w", err)
		}
		for _, item := range list.Items {
			whole := cel.LiveTarget{Resource: name, Namespace: item.GetNamespace()}
			one := whole
			one.Name = item.GetName()
			items, _ := s.found[whole].([]any)
			s.found[whole] = append(items, item.Object)
			s.found[one], s.versions[one] = item.Object, item.GetResourceVersion()
		}
	}
	return s, nil
}

// read binds what the webhook reads live for a request.
func (s *stock) read(e *cel.Engine, r *cel.Request) error {
	targets, err := e.LiveReads(r)
	if err != nil {
		return fmt.Errorf("work out live reads: %w", err)
	}
	r.Live = map[string]any{}
	for name, target := range targets {
		value, ok := s.found[target]
		if !ok && target.Name == "" {
			value = []any{}
		}
		r.Live[name] = value
	}
	return nil
}
