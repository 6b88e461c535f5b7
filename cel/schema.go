package cel

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// nodeSchema is a schema node as CEL values see it. The stock adapter builds the
// map of a node's properties anew at every field access, most of what stock
// validation allocates; here each node is built once and only read afterwards.
type nodeSchema struct {
	common.Schema
	kind, format, listType string
	intOrString, embedded  bool
	properties             map[string]common.Schema
	fields                 map[string]fieldSchema // the properties by CEL name
	items                  common.Schema
	additional             common.SchemaOrBool
	values                 *nodeSchema // of additional
	withMeta               *nodeSchema
}

// fieldSchema is a field's name in the object, and its schema.
type fieldSchema struct {
	name   string
	schema *nodeSchema
}

// newNodeSchema converts a schema node and all below it.
func newNodeSchema(s *schema.Structural) *nodeSchema {
	n := newPlainSchema(s)
	n.withMeta = n
	if withMeta := model.WithTypeAndObjectMeta(s); withMeta != s {
		n.withMeta = newPlainSchema(withMeta)
		n.withMeta.withMeta = n.withMeta
	}
	return n
}

func newPlainSchema(s *schema.Structural) *nodeSchema {
	stock := &model.Structural{Structural: s}
	n := &nodeSchema{
		Schema: stock, kind: stock.Type(), format: stock.Format(), listType: stock.XListType(),
		intOrString: stock.IsXIntOrString(), embedded: stock.IsXEmbeddedResource(),
	}
	if s.Properties != nil {
		n.properties = make(map[string]common.Schema, len(s.Properties))
		n.fields = make(map[string]fieldSchema, len(s.Properties))
		for name, property := range s.Properties {
			child := newChildSchema(&property)
			n.properties[name] = child
			if escaped, ok := apiservercel.Escape(name); ok {
				n.fields[escaped] = fieldSchema{name, child}
			}
		}
	}
	if s.Items != nil {
		n.items = newChildSchema(s.Items)
	}
	if s.AdditionalProperties != nil {
		n.additional = additionalSchema{allowed: s.AdditionalProperties.Bool}
		if s.AdditionalProperties.Structural != nil {
			n.values = newChildSchema(s.AdditionalProperties.Structural)
			n.additional = additionalSchema{schema: n.values, allowed: s.AdditionalProperties.Bool}
		}
	}
	return n
}

// newChildSchema: only an embedded resource is ever asked for its object meta.
func newChildSchema(s *schema.Structural) *nodeSchema {
	if s.XEmbeddedResource {
		return newNodeSchema(s)
	}
	return newPlainSchema(s)
}

func (n *nodeSchema) Type() string                              { return n.kind }
func (n *nodeSchema) Format() string                            { return n.format }
func (n *nodeSchema) XListType() string                         { return n.listType }
func (n *nodeSchema) IsXIntOrString() bool                      { return n.intOrString }
func (n *nodeSchema) IsXEmbeddedResource() bool                 { return n.embedded }
func (n *nodeSchema) Items() common.Schema                      { return n.items }
func (n *nodeSchema) Properties() map[string]common.Schema      { return n.properties }
func (n *nodeSchema) AdditionalProperties() common.SchemaOrBool { return n.additional }

func (n *nodeSchema) WithTypeAndObjectMeta() common.Schema {
	if n.withMeta == nil {
		return n.Schema.WithTypeAndObjectMeta()
	}
	return n.withMeta
}

// additionalSchema is the schema of a map's values; schema is nil where the CRD
// only says whether there may be any.
type additionalSchema struct {
	schema  common.Schema
	allowed bool
}

func (a additionalSchema) Schema() common.Schema { return a.schema }
func (a additionalSchema) Allows() bool          { return a.allowed }
