package parity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/utils/ptr"
)

// node is a schema node with what is needed to make valid values for it.
type node struct {
	path       string // dots between properties, [*] for items and values
	kind       string
	properties []property // sorted by name
	items      *node
	values     *node // of a map
	mapKeys    []string
	// named lists hold an entry twice now and then, though nobody means it.
	named    bool
	minItems int
	maxItems int
	// leaves are values of a scalar: all are valid, hints are tried more often.
	leaves, hints []any
}

type property struct {
	name     string
	required bool
	// presence is the share of objects that have the property.
	presence float64
	node     *node
}

// manyItems is how far a list without hints grows beyond its minimum.
const manyItems = 3

// compile reads a schema. A string schema that no sample fits is an error, so that
// samples and API stay together.
func compile(s *schema.Structural, path string) (*node, error) {
	n := &node{path: path, kind: s.Type, mapKeys: s.XListMapKeys}
	if s.XIntOrString {
		n.kind = "int-or-string"
	}
	switch n.kind {
	case "object":
		return n, n.compileObject(s)
	case "array":
		return n, n.compileArray(s)
	}
	n.leaves = valid(s, samplesOf(s))
	n.hints = valid(s, hints[path])
	if len(n.leaves) == 0 {
		return nil, fmt.Errorf("no sample fits the schema of %s", path)
	}
	if len(n.hints) != len(hints[path]) {
		return nil, fmt.Errorf("not all hints fit the schema of %s", path)
	}
	return n, nil
}

func (n *node) compileObject(s *schema.Structural) (err error) {
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		n.values, err = compile(s.AdditionalProperties.Structural, n.path+"[*]")
		return err
	}
	var required []string
	if s.ValueValidation != nil {
		required = s.ValueValidation.Required
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := property{name: name, required: slices.Contains(required, name)}
		child := s.Properties[name]
		if p.node, err = compile(&child, below(n.path, name)); err != nil {
			return err
		}
		p.presence = presenceOf(p.node.path)
		n.properties = append(n.properties, p)
	}
	return nil
}

func (n *node) compileArray(s *schema.Structural) (err error) {
	n.items, err = compile(s.Items, n.path+"[*]")
	if n.named = n.path == "spec.etcd.bootstrapWithExistingCluster.members"; n.named {
		n.mapKeys = []string{"name"}
	}
	v := ptr.Deref(s.ValueValidation, schema.ValueValidation{})
	n.minItems = int(ptr.Deref(v.MinItems, 0))
	n.maxItems = min(int(ptr.Deref(v.MaxItems, 1<<20)), n.minItems+manyItems)
	return err
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// property finds a property by its name.
func (n *node) property(name string) (property, bool) {
	for _, p := range n.properties {
		if p.name == name {
			return p, true
		}
	}
	return property{}, false
}

// valid keeps the values that the schema accepts.
func valid(s *schema.Structural, values []any) []any {
	v := ptr.Deref(s.ValueValidation, schema.ValueValidation{})
	return slices.DeleteFunc(slices.Clone(values), func(value any) bool {
		switch value := value.(type) {
		case string:
			return !fits(v, value)
		case int64:
			return s.Type == "string" || v.Minimum != nil && float64(value) < *v.Minimum || v.Maximum != nil && float64(value) > *v.Maximum
		}
		return false
	})
}

func fits(v schema.ValueValidation, text string) bool {
	length := int64(utf8.RuneCountInString(text))
	enum := func(e schema.JSON) bool { return e.Object == any(text) }
	return length >= ptr.Deref(v.MinLength, 0) && length <= ptr.Deref(v.MaxLength, length) &&
		(len(v.Enum) == 0 || slices.ContainsFunc(v.Enum, enum)) &&
		(v.Pattern == "" || regexp.MustCompile(v.Pattern).MatchString(text)) &&
		(v.Format == "date-time") == instant.MatchString(text)
}

// instant is the form of a date-time sample; other strings do not have it.
var instant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)
