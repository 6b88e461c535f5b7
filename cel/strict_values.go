package cel

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

var scalarTags = map[reflect.Kind]string{
	reflect.String: "!!str", reflect.Bool: "!!bool",
	reflect.Int: "!!int", reflect.Int32: "!!int", reflect.Int64: "!!int", reflect.Float64: "!!float",
}

var tagNames = map[string]string{
	"!!str": "a string", "!!bool": "a boolean", "!!int": "an integer", "!!float": "a number", "!!null": "null",
	"!!timestamp": "a time", "!!binary": "binary data", "!!merge": "a merge key",
}

func (d *strictDecoder) decodeScalar(n *yaml.Node, v reflect.Value, at string) {
	want := scalarTags[v.Kind()]
	got := n.ShortTag()
	if n.Kind != yaml.ScalarNode || got != want && !(want == "!!float" && got == "!!int") {
		d.problem(n, "%s: want %s, got %s", orDocument(at), tagNames[want], kindOf(n))
		return
	}
	if err := n.Decode(v.Addr().Interface()); err != nil {
		d.problem(n, "%s: %q does not fit", orDocument(at), n.Value)
	}
}

// jsonValue gives what the API machinery's JSON decoding would: a date stays text.
func (d *strictDecoder) jsonValue(n *yaml.Node, at string) any {
	switch n.Kind {
	case yaml.AliasNode:
		return d.jsonValue(n.Alias, at)
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		d.eachField(n, at, func(key, value *yaml.Node) {
			object[key.Value] = d.jsonValue(value, join(at, key.Value))
		})
		return object
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = d.jsonValue(item, at)
		}
		return list
	}
	return d.jsonScalar(n, at)
}

func (d *strictDecoder) jsonScalar(n *yaml.Node, at string) any {
	var value any
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp":
		return n.Value
	case "!!bool":
		value = new(bool)
	case "!!int":
		value = new(int64)
	case "!!float":
		value = new(float64)
	default:
		d.problem(n, "%s: %s has no JSON form", orDocument(at), kindOf(n))
		return nil
	}
	if err := n.Decode(value); err != nil {
		d.problem(n, "%s: %q does not fit", orDocument(at), n.Value)
		return nil
	}
	return reflect.ValueOf(value).Elem().Interface()
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if name, ok := tagNames[n.ShortTag()]; ok {
		return name
	}
	return "a value tagged " + n.ShortTag()
}

// fieldsByTag maps json names to field indexes, those of embedded structs too.
func fieldsByTag(t reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			fields[name] = f.Index
		}
	}
	return fields
}

func join(at, field string) string {
	if at == "" {
		return field
	}
	return at + "." + field
}

func orDocument(at string) string {
	if at == "" {
		return "the document"
	}
	return at
}
