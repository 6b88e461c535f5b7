package cel

import ()

// crdTree holds the rules of one CRD version: the schema, pruned to the nodes
// that have rules at or below them, and apart from it the compiled rules, so that
// an engine with another rule shares the rest.
type crdTree struct {
	root *crdNode // nil without any rule
	// schema is the whole schema, for ratcheting.
	schema *nodeSchema
	// rules are the compiled rules by the node's index.
	rules [][]crdRule
}

// crdNode is a place in a schema. It parallels the stock Validator's nodes.
type crdNode struct {
	index int
	path  string // of properties, with [*] for items and values; empty at the root
	// values is the schema that values at this node are read by.
	values *nodeSchema
	// kind is the schema's type, the value that rule errors print.
	kind         string
	correlatable bool // the fields of a map have an old value
	allOf        []*crdNode
	properties   []crdProperty // sorted by name
	additional   *crdNode
	items        *crdNode
	compiler     *nodeCompiler
}

type crdProperty struct {
	name string
	node *crdNode
}

// nodes lists the tree's nodes, in the order of evaluation.
func (t *crdTree) nodes() []*crdNode {
	var all []*crdNode
	var visit func(*crdNode)
	visit = func(n *crdNode) {
		if n == nil {
			return
		}
		all = append(all, n)
		for _, child := range n.allOf {
			visit(child)
		}
		visit(n.items)
		visit(n.additional)
		for _, property := range n.properties {
			visit(property.node)
		}
	}
	visit(t.root)
	return all
}
