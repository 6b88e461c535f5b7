package cel

import (
	"errors"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// treeBuilder walks a schema as the stock validator's constructor does.
type treeBuilder struct {
	tree     *crdTree
	judged   judgedRules
	problems []error
}

// judgedRules says which of a schema's rules, at a node's path, are judged.
type judgedRules func(r apiextensionsv1.ValidationRule, path string) bool

// newCRDTree compiles the rules of a schema that are judged.
func newCRDTree(s *schema.Structural, judged judgedRules) (*crdTree, error) {
	b := &treeBuilder{tree: &crdTree{schema: newNodeSchema(s)}, judged: judged}
	b.tree.root = b.node(buildPlace{
		rules: s, schema: s, values: b.tree.schema, isRoot: true, declType: model.SchemaDeclType(s, true),
	})
	return b.tree, errors.Join(b.problems...)
}

// buildPlace is a place on the way. Under allOf the rules stand in a schema of
// their own, but are typed by the structural node they apply to.
type buildPlace struct {
	rules, schema *schema.Structural
	values        *nodeSchema
	isRoot        bool
	declType      *apiservercel.DeclType
	path          string
}

// node gives nil where neither the place nor anything below it has rules.
func (b *treeBuilder) node(p buildPlace) *crdNode {
	n := &crdNode{path: p.path, values: p.values, kind: p.schema.Type,
		correlatable: schemacel.MapIsCorrelatable(p.schema.XMapType)}
	if p.isRoot {
		n.values = p.values.withMeta
	}
	compiled := b.compile(n, p)
	b.children(n, p)
	if len(compiled) == 0 && n.items == nil && n.additional == nil && len(n.properties) == 0 && len(n.allOf) == 0 {
		return nil
	}
	n.index = len(b.tree.rules)
	b.tree.rules = append(b.tree.rules, compiled)
	return n
}

func (b *treeBuilder) compile(n *crdNode, p buildPlace) []crdRule {
	typed := *p.schema
	typed.XValidations = slices.DeleteFunc(slices.Clone(p.rules.XValidations), func(r apiextensionsv1.ValidationRule) bool {
		return !b.judged(r, p.path)
	})
	if len(typed.XValidations) == 0 {
		return nil
	}
	n.compiler = &nodeCompiler{schema: &typed, declType: p.declType, path: p.path}
	compiled, err := n.compiler.compileAll()
	if err != nil {
		b.problems = append(b.problems, err)
	}
	return compiled
}

func (b *treeBuilder) children(n *crdNode, p buildPlace) {
	if p.rules.Items != nil && p.schema.Items != nil {
		n.items = b.node(below(p, p.rules.Items, p.schema.Items, p.values.items, "[*]"))
	}
	if hasValues(p.rules) && hasValues(p.schema) {
		n.additional = b.node(below(p, p.rules.AdditionalProperties.Structural,
			p.schema.AdditionalProperties.Structural, p.values.additional.Schema(), "[*]"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.rules.Properties)) {
		if child := b.property(p, name); child != nil {
			n.properties = append(n.properties, crdProperty{name, child})
		}
	}
	if p.rules.ValueValidation == nil {
		return
	}
	for _, nested := range p.rules.ValueValidation.AllOf {
		q := p
		q.rules = nestedSchema(&nested)
		if child := b.node(q); child != nil {
			n.allOf = append(n.allOf, child)
		}
	}
}

func hasValues(s *schema.Structural) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil
}

// below steps to items or to a map's values.
func below(p buildPlace, rules, s *schema.Structural, values common.Schema, step string) buildPlace {
	child := buildPlace{rules: rules, schema: s, values: values.(*nodeSchema), isRoot: s.XEmbeddedResource, path: p.path + step}
	if p.declType != nil {
		child.declType = p.declType.ElemType
	}
	return child
}

// property gives nil also for a field that CEL cannot see: one of unknown type,
// or one that only allOf mentions.
func (b *treeBuilder) property(p buildPlace, name string) *crdNode {
	s, ok := p.schema.Properties[name]
	if !ok {
		return nil
	}
	declType := fieldType(p.declType, name, &s)
	if declType == nil {
		return nil
	}
	rules := p.rules.Properties[name]
	return b.node(buildPlace{
		rules: &rules, schema: &s, values: p.values.properties[name].(*nodeSchema),
		isRoot: s.XEmbeddedResource, declType: declType, path: join(p.path, name),
	})
}

// fieldType: a name that CEL cannot spell is missing from the parent's type, but
// the value behind it may have rules.
func fieldType(parent *apiservercel.DeclType, name string, s *schema.Structural) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		return model.SchemaDeclType(s, s.XEmbeddedResource)
	}
	if parent == nil || parent.Fields[escaped] == nil {
		return nil
	}
	return parent.Fields[escaped].Type
}

// nestedSchema reads a schema under allOf as a structural one, for its rules.
func nestedSchema(n *schema.NestedValueValidation) *schema.Structural {
	s := &schema.Structural{
		Generic: n.ForbiddenGenerics, Extensions: n.ForbiddenExtensions,
		ValueValidation: &n.ValueValidation, ValidationExtensions: n.ValidationExtensions,
	}
	if n.Items != nil {
		s.Items = nestedSchema(n.Items)
	}
	if n.AdditionalProperties != nil {
		s.AdditionalProperties = &schema.StructuralOrBool{Structural: nestedSchema(n.AdditionalProperties)}
	}
	for name, property := range n.Properties {
		if s.Properties == nil {
			s.Properties = map[string]schema.Structural{}
		}
		s.Properties[name] = *nestedSchema(&property)
	}
	return s
}
