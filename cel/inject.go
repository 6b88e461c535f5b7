package cel

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var (
	// ErrNoCRD says that a rule's resource has no CustomResourceDefinition.
	ErrNoCRD = errors.New("no such CustomResourceDefinition")
	// ErrNoSchemaNode says that a rule's path leads nowhere in a schema.
	ErrNoSchemaNode = errors.New("no such schema node")
)

// trailingID is the mark of an injected rule: its ID ends the message.
var trailingID = regexp.MustCompile(` \(([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\)$`)

// Inject writes the rules of the CRD layer into copies of the CRDs, in catalogue
// order, at their node in each version. Rules that were injected before, known
// by the ID that ends their message, are taken out first; others stay. A rule
// without its CRD or node is an error (ErrNoCRD, ErrNoSchemaNode); all errors are
// joined.
func Inject(c *Catalogue, crds []*apiextensionsv1.CustomResourceDefinition) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	out := make([]*apiextensionsv1.CustomResourceDefinition, len(crds))
	for i, crd := range crds {
		out[i] = crd.DeepCopy()
		for _, schema := range schemas(out[i]) {
			dropInjected(schema)
		}
	}
	var problems []error
	for _, r := range c.Rules {
		if r.In(LayerCRD) {
			problems = append(problems, injectRule(c.Group, r, out))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return out, nil
}

func injectRule(group string, r *Rule, crds []*apiextensionsv1.CustomResourceDefinition) error {
	crd, ok := findCRD(group, r.Resource, crds)
	if !ok {
		return fmt.Errorf("inject rule %s: %w: %s.%s", r.ID, ErrNoCRD, r.Resource, group)
	}
	var problems []error
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			problems = append(problems, noNode(r, version.Name))
			continue
		}
		if !injectAt(version.Schema.OpenAPIV3Schema, steps(r.Path), validationOf(r)) {
			problems = append(problems, noNode(r, version.Name))
		}
	}
	return errors.Join(problems...)
}

func noNode(r *Rule, version string) error {
	return fmt.Errorf("inject rule %s: %w: path %q in version %s of %s", r.ID, ErrNoSchemaNode, r.Path, version, r.Resource)
}

func findCRD(group, resource string, crds []*apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, bool) {
	for _, crd := range crds {
		if crd.Spec.Group == group && crd.Spec.Names.Plural == resource {
			return crd, true
		}
	}
	return nil, false
}

// steps splits a rule's path; the root has none.
func steps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// injectAt appends the rule to the node at the end of path. Properties are
// values in their map, so each is written back.
func injectAt(node *apiextensionsv1.JSONSchemaProps, path []string, rule apiextensionsv1.ValidationRule) bool {
	if len(path) == 0 {
		node.XValidations = append(node.XValidations, rule)
		return true
	}
	property, ok := node.Properties[path[0]]
	if !ok || !injectAt(&property, path[1:], rule) {
		return false
	}
	node.Properties[path[0]] = property
	return true
}

func validationOf(r *Rule) apiextensionsv1.ValidationRule {
	reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
	return apiextensionsv1.ValidationRule{
		Rule:              strings.TrimSpace(r.Expression),
		Message:           strings.TrimSpace(r.Message),
		MessageExpression: strings.TrimSpace(r.MessageExpression),
		Reason:            &reason,
		FieldPath:         r.FieldPath,
	}
}

func schemas(crd *apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.JSONSchemaProps {
	var out []*apiextensionsv1.JSONSchemaProps
	for _, version := range crd.Spec.Versions {
		if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			out = append(out, version.Schema.OpenAPIV3Schema)
		}
	}
	return out
}

// dropInjected takes injected rules out of a schema and all below it: a rule's
// path may have changed since.
func dropInjected(schema *apiextensionsv1.JSONSchemaProps) {
	eachNode(schema, "", func(_ string, node *apiextensionsv1.JSONSchemaProps) {
		node.XValidations = slices.DeleteFunc(node.XValidations, func(v apiextensionsv1.ValidationRule) bool {
			return idIn(strings.TrimSpace(v.Message)) != ""
		})
		if len(node.XValidations) == 0 {
			node.XValidations = nil
		}
	})
}

// eachNode visits a schema node and all below it; visit may change the node. A
// path has dots between properties, and [*] for items and values.
func eachNode(node *apiextensionsv1.JSONSchemaProps, path string, visit func(path string, node *apiextensionsv1.JSONSchemaProps)) {
	visit(path, node)
	for name, property := range node.Properties {
		eachNode(&property, join(path, name), visit)
		node.Properties[name] = property
	}
	if node.Items != nil && node.Items.Schema != nil {
		eachNode(node.Items.Schema, path+"[*]", visit)
	}
	if node.AdditionalProperties != nil && node.AdditionalProperties.Schema != nil {
		eachNode(node.AdditionalProperties.Schema, path+"[*]", visit)
	}
}
