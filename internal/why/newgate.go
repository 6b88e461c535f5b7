package why

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/cel"
)

// NewGate makes the three layers of this version, from the catalogue and the
// generated CRDs.
func NewGate(c *cel.Catalogue, crds []*apiextensionsv1.CustomResourceDefinition, controller string) (*Gate, error) {
	engine, err := cel.New(c, crds)
	if err != nil {
		return nil, fmt.Errorf("compile the webhook's rules: %w", err)
	}
	inCRD, err := cel.NewCRDLayer(c, crds)
	if err != nil {
		return nil, fmt.Errorf("compile the CRD rules: %w", err)
	}
	policies, _, err := cel.Policies(c, controller)
	if err != nil {
		return nil, fmt.Errorf("write the policies: %w", err)
	}
	inVAP, err := cel.NewVAPLayer(c, policies)
	if err != nil {
		return nil, fmt.Errorf("compile the policies: %w", err)
	}
	shapes, err := Shapes(crds)
	if err != nil {
		return nil, err
	}
	return &Gate{CRD: inCRD, VAP: inVAP, Webhook: engine, Shapes: shapes, Controller: controller}, nil
}
