package parity

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

const (
	controller = "system:serviceaccount:quorate-system:quorate-controller"
	seed       = 20300102
)

// product is the product's catalogue and the CRDs made from it.
func product(t testing.TB) (*cel.Catalogue, []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	c, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	if crds, err = cel.Inject(c, crds); err != nil {
		t.Fatal(err)
	}
	return c, crds
}

func productGenerator(t testing.TB) *Generator {
	t.Helper()
	_, crds := product(t)
	g, err := NewGenerator(crds, controller, seed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// layers makes the three layers, each of a catalogue of its own.
func layers(t testing.TB, ofCRD, ofWebhook, ofVAP *cel.Catalogue) map[cel.Layer]cel.Layered {
	t.Helper()
	injected := func(c *cel.Catalogue) []*apiextensionsv1.CustomResourceDefinition {
		crds, err := manifests.LoadCRDs()
		if err == nil {
			crds, err = cel.Inject(c, crds)
		}
		if err != nil {
			t.Fatal(err)
		}
		return crds
	}
	crd, err := cel.NewCRDLayer(ofCRD, injected(ofCRD))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cel.New(ofWebhook, injected(ofWebhook))
	if err != nil {
		t.Fatal(err)
	}
	policies, _, err := cel.Policies(ofVAP, controller)
	if err != nil {
		t.Fatal(err)
	}
	vap, err := cel.NewVAPLayer(ofVAP, policies)
	if err != nil {
		t.Fatal(err)
	}
	return map[cel.Layer]cel.Layered{cel.LayerCRD: crd, cel.LayerWebhook: Webhook(engine, controller), cel.LayerVAP: vap}
}
