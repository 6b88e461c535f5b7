package cel

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ErrNotGenerated says that a CRD does not hold a rule as the catalogue has it.
var ErrNotGenerated = errors.New("the CRD does not hold the rule as its file has it; generate the CRDs again")

// New compiles an engine. The rules of the CRD layer are taken from the CRDs,
// which must hold them as the catalogue does (ErrNotGenerated); foreign rules in
// the CRDs are judged too. Every served version is compiled. A rule whose
// resource has no CRD is an error (ErrNoCRD). All errors are joined.
func New(c *Catalogue, crds []*apiextensionsv1.CustomResourceDefinition) (*Engine, error) {
	e := &Engine{group: c.Group, order: orderOf(c), resources: map[string]*resourceRules{}}
	var problems []error
	for _, crd := range crds {
		if crd.Spec.Group != c.Group {
			continue
		}
		rules, err := newResourceRules(c, crd)
		problems = append(problems, err)
		if rules.any() {
			e.resources[crd.Spec.Names.Plural] = rules
		}
	}
	for _, r := range c.Rules {
		if _, ok := findCRD(c.Group, r.Resource, crds); !ok {
			problems = append(problems, fmt.Errorf("compile rule %s: %w: %s.%s", r.ID, ErrNoCRD, r.Resource, c.Group))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return e, nil
}

func newResourceRules(c *Catalogue, crd *apiextensionsv1.CustomResourceDefinition) (*resourceRules, error) {
	rules := &resourceRules{group: c.Group, kind: crd.Spec.Names.Kind, trees: map[string]*crdTree{}}
	var problems []error
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			rules.storage = version.Name
		}
		if !version.Served {
			continue
		}
		tree, err := newVersionTree(c, crd.Spec.Names.Plural, version)
		if err != nil {
			problems = append(problems, fmt.Errorf("version %s of CRD %s: %w", version.Name, crd.Name, err))
			continue
		}
		rules.trees[version.Name] = tree
	}
	for _, r := range c.Rules {
		if r.Resource != crd.Spec.Names.Plural || r.In(LayerCRD) || !r.In(LayerWebhook) {
			continue
		}
		gate, err := newGateRule(r)
		problems = append(problems, err)
		rules.gates = append(rules.gates, gate)
	}
	return rules, errors.Join(problems...)
}

func newVersionTree(c *Catalogue, resource string, version apiextensionsv1.CustomResourceDefinitionVersion) (*crdTree, error) {
	s, err := structuralOf(version)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	judged := func(source apiextensionsv1.ValidationRule, path string) bool {
		r, ok := c.Rule(ruleID(source, path))
		return !ok || r.In(LayerWebhook)
	}
	tree, err := newCRDTree(s, judged)
	if err != nil {
		return nil, err
	}
	return tree, tree.generated(c, resource)
}

// generated checks that the tree holds the catalogue's rules, unchanged and at
// their places.
func (t *crdTree) generated(c *Catalogue, resource string) error {
	var problems []error
	for _, r := range c.Rules {
		if r.Resource == resource && r.In(LayerCRD) && r.In(LayerWebhook) && !t.holds(r) {
			problems = append(problems, fmt.Errorf("rule %s at %q: %w", r.ID, r.Path, ErrNotGenerated))
		}
	}
	return errors.Join(problems...)
}

func (t *crdTree) holds(r *Rule) bool {
	n, i := t.find(r.ID)
	return n != nil && n.path == r.Path && sameRule(t.rules[n.index][i].source, validationOf(r))
}

func sameRule(a, b apiextensionsv1.ValidationRule) bool {
	reason := func(r apiextensionsv1.ValidationRule) apiextensionsv1.FieldValueErrorReason {
		if r.Reason == nil {
			return apiextensionsv1.FieldValueInvalid
		}
		return *r.Reason
	}
	return a.Rule == b.Rule && a.Message == b.Message && a.MessageExpression == b.MessageExpression &&
		a.FieldPath == b.FieldPath && reason(a) == reason(b)
}

// find gives the node that has the rule, and the rule's place among the node's.
func (t *crdTree) find(id string) (*crdNode, int) {
	for _, n := range t.nodes() {
		if i := slices.IndexFunc(t.rules[n.index], func(r crdRule) bool { return r.key == id }); i >= 0 {
			return n, i
		}
	}
	return nil, -1
}

func (rules *resourceRules) any() bool {
	for _, tree := range rules.trees {
		if tree.root != nil {
			return true
		}
	}
	return len(rules.gates) > 0
}
