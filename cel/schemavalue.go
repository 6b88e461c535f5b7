package cel

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// val gives the CEL value of a part of an object. Objects, maps and lists answer
// field access, presence, size and iteration themselves, where the stock values
// unescape each name by a regular expression and make everything anew. All that
// has a meaning of its own, equality above all, is left to the stock value.
func (n *nodeSchema) val(v any) ref.Val {
	switch value := v.(type) {
	case map[string]any:
		if n.kind == "object" && !n.intOrString && (n.properties != nil || n.values != nil) {
			return &objectValue{fields: value, schema: n.resource()}
		}
	case []any:
		if n.kind == "array" && !n.intOrString && n.items != nil && n.plainList() {
			return &listValue{elements: value, schema: n}
		}
	}
	return common.UnstructuredToVal(v, n)
}

// resource is the schema with the metadata that an embedded resource has anyhow.
func (n *nodeSchema) resource() *nodeSchema {
	if n.embedded {
		return n.withMeta
	}
	return n
}

func (n *nodeSchema) plainList() bool {
	switch n.listType {
	case "", "atomic", "map", "set":
		return true
	}
	return false
}

// field finds a property by the name that CEL has for it.
func (n *nodeSchema) field(name string) (fieldSchema, bool) {
	if n.properties == nil {
		return fieldSchema{name, n.values}, n.values != nil
	}
	if f, ok := n.fields[name]; ok {
		return f, true
	}
	raw, ok := apiservercel.Unescape(name)
	if !ok {
		return fieldSchema{}, false
	}
	property, ok := n.properties[raw].(*nodeSchema)
	return fieldSchema{raw, property}, ok
}

// objectValue is an object with properties, or a map by additionalProperties.
type objectValue struct {
	fields map[string]any
	schema *nodeSchema
	// parts are the objects and lists that were asked for before.
	parts []objectPart
}

type objectPart struct {
	name string
	val  ref.Val
}

var (
	_ traits.Mapper = (*objectValue)(nil)
	_ traits.Lister = (*listValue)(nil)
)

func (o *objectValue) stock() ref.Val { return common.UnstructuredToVal(o.fields, o.schema) }

// Find gives a field; a null in an object counts as absent, in a map as itself.
func (o *objectValue) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	f, ok := o.schema.field(string(name))
	if !ok {
		return nil, false
	}
	v, ok := o.fields[f.name]
	if !ok || v == nil && o.schema.properties != nil {
		return nil, false
	}
	return o.part(f, v), true
}

func (o *objectValue) part(f fieldSchema, v any) ref.Val {
	switch v.(type) {
	case map[string]any, []any:
	default:
		return common.UnstructuredToVal(v, f.schema)
	}
	for i := range o.parts {
		if o.parts[i].name == f.name {
			return o.parts[i].val
		}
	}
	val := f.schema.val(v)
	o.parts = append(o.parts, objectPart{f.name, val})
	return val
}

// Contains implements traits.Container, which the in operator asks.
func (o *objectValue) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Get implements traits.Indexer.
func (o *objectValue) Get(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if !found {
		return types.ValOrErr(key, "no such key: %v", key)
	}
	return v
}

// Size implements traits.Sizer.
func (o *objectValue) Size() ref.Val { return types.Int(len(o.fields)) }

// Type implements ref.Val, as do the three below.
func (o *objectValue) Type() ref.Type { return types.MapType }

// Value gives the fields as they were decoded.
func (o *objectValue) Value() any { return o.fields }

// Equal compares as the API server does.
func (o *objectValue) Equal(other ref.Val) ref.Val { return o.stock().Equal(unwrapped(other)) }

// ConvertToNative gives the decoded fields.
func (o *objectValue) ConvertToNative(t reflect.Type) (any, error) {
	return o.stock().ConvertToNative(t)
}

// ConvertToType knows a map and a type.
func (o *objectValue) ConvertToType(t ref.Type) ref.Val {
	if t == types.MapType {
		return o
	}
	return o.stock().ConvertToType(t)
}

// Iterator walks the names.
func (o *objectValue) Iterator() traits.Iterator { return o.stock().(traits.Mapper).Iterator() }
