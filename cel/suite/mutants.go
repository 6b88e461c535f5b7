package suite

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// change is one way to alter an expression.
type change struct {
	operator   string // what kind of change
	at         *node  // the part that is named in the mutant's ID
	to         string // what it became, for people; empty where the operator says it
	start, end int    // what is replaced
	text       string // what replaces it
	// expression is the whole expression after the change.
	expression string
}

// changes lists every mutant of an expression in reading order, each text once.
func changes(t *tree) []change {
	m := mutator{tree: t}
	t.walk(m.visit)
	for _, leaf := range conditions(t) {
		// A negated comparison is one of the other comparisons, and !x has its own.
		negated := leaf.parent != nil && leaf.parent.call() == operators.LogicalNot
		if !negated && !isComparison(leaf.call()) {
			m.add("negate", leaf, "", leaf.start, leaf.end, "!("+t.raw(leaf)+")")
		}
	}
	seen := map[string]bool{string(t.source): true}
	kept := slices.DeleteFunc(m.found, func(c change) bool {
		known := seen[c.expression]
		seen[c.expression] = true
		return known
	})
	slices.SortStableFunc(kept, func(a, b change) int { return a.at.start - b.at.start })
	return kept
}

type mutator struct {
	tree  *tree
	found []change
}

func (m *mutator) add(operator string, at *node, to string, start, end int, text string) {
	m.found = append(m.found, change{operator, at, to, start, end, text, m.tree.replace(start, end, text)})
}

// swap replaces the part's own token, such as its operator.
func (m *mutator) swap(operator string, n *node, from, to string) {
	m.add(operator, n, to, n.token, n.token+len([]rune(from)), to)
}

func (m *mutator) visit(n *node) {
	switch n.expr.Kind() {
	case ast.IdentKind:
		m.ident(n)
	case ast.LiteralKind:
		m.literal(n)
	case ast.ListKind:
		m.list(n)
	case ast.CallKind:
		m.callOf(n)
	}
}

func (m *mutator) callOf(n *node) {
	switch function := n.call(); {
	case isComparison(function):
		m.comparison(n)
	case isLogical(function):
		m.logical(n)
	case function == operators.LogicalNot:
		m.add("drop-not", n, "", n.start, n.start+1, "")
	case function == operators.Conditional:
		m.ternary(n)
	case isHas(n):
		m.add("drop-has", n, "", n.start, n.end, "true")
	case n.isMember() && predicateOf(n) > 0:
		m.macro(n)
	}
}

var otherComparisons = map[string][]string{
	operators.Equals:        {"!="},
	operators.NotEquals:     {"=="},
	operators.Less:          {"<=", ">", ">="},
	operators.LessEquals:    {"<", ">", ">="},
	operators.Greater:       {">=", "<", "<="},
	operators.GreaterEquals: {">", "<", "<="},
}

func (m *mutator) comparison(n *node) {
	sign, _ := operators.FindReverse(n.call())
	for _, other := range otherComparisons[n.call()] {
		m.swap("compare", n, sign, other)
	}
}
