package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// logical handles the topmost node of a chain alone: a chain has many nodes, and
// how the parser nests them is its own affair.
func (m *mutator) logical(n *node) {
	if n.parent != nil && n.parent.call() == n.call() {
		return
	}
	sign, other := "&&", "||"
	if n.call() == operators.LogicalOr {
		sign, other = other, sign
	}
	tokens := n.tokens()
	slices.Sort(tokens)
	operands := n.operands()
	for i, token := range tokens {
		m.add("connect", operands[i+1], other+" before", token, token+len(sign), other)
	}
	for _, operand := range operands {
		// drop-has does the same to has() among && and !has() among ||
		if n.call() == operators.LogicalAnd && isHas(operand) || n.call() == operators.LogicalOr && isNotHas(operand) {
			continue
		}
		start, end := m.tree.droppable(operand, tokens, len(sign))
		m.add("drop-operand", operand, "", start, end, "")
	}
}

// tokens lists where a chain's operators stand.
func (n *node) tokens() []int {
	out := []int{n.token}
	for _, c := range n.children {
		if c.call() == n.call() {
			out = append(out, c.tokens()...)
		}
	}
	return out
}

// droppable gives the stretch that takes an operand out of a chain: with the
// operator before it, or else, where a bracket opens between, with the one after.
func (t *tree) droppable(operand *node, tokens []int, width int) (start, end int) {
	start, end = t.widened(operand)
	if before := t.left(start) + 1 - width; slices.Contains(tokens, before) {
		for before > 0 && t.source[before-1] == ' ' {
			before--
		}
		return before, end
	}
	return start, t.right(t.right(end) + width)
}

// widened is a part's extent with the parentheses that stand around it alone.
func (t *tree) widened(n *node) (start, end int) {
	start, end = n.start, n.end
	for {
		left, right := t.left(start), t.right(end)
		if left < 0 || right >= len(t.source) || t.source[left] != '(' || t.source[right] != ')' {
			return start, end
		}
		start, end = left, right+1
	}
}

func isHas(n *node) bool { return n.call() == "has" && !n.isMember() }

func isNotHas(n *node) bool { return n.call() == operators.LogicalNot && isHas(n.children[0]) }

func (m *mutator) ternary(n *node) {
	raw := func(i int) string { return "(" + m.tree.raw(n.children[i]) + ")" }
	m.add("swap-branches", n, "", n.start, n.end, "("+raw(0)+" ? "+raw(2)+" : "+raw(1)+")")
}

var otherMacros = map[string]string{"exists": "all", "all": "exists", "exists_one": "exists", "existsOne": "exists"}

func (m *mutator) macro(n *node) {
	name := n.call()
	if other, ok := otherMacros[name]; ok {
		start := n.token - len(name)
		m.add("quantifier", n, other, start, n.token, other)
	}
}

// The variables that stand for the rule's node after and before.
const (
	selfVar    = "self"
	oldSelfVar = "oldSelf"
)

var otherSelf = map[string]string{selfVar: oldSelfVar, oldSelfVar: selfVar}

func (m *mutator) ident(n *node) {
	name := n.expr.AsIdent()
	if other, ok := otherSelf[name]; ok {
		m.add("swap-self", selectChain(n), other, n.start, n.end, other)
	}
}

// selectChain gives the longest field access that begins with the identifier,
// which names it better than self does.
func selectChain(n *node) *node {
	for p := n.parent; p != nil && p.expr.Kind() == ast.SelectKind; p = p.parent {
		n = p
	}
	return n
}

func (m *mutator) list(n *node) {
	for i, element := range n.children {
		var rest []string
		for _, other := range slices.Delete(slices.Clone(n.children), i, i+1) {
			rest = append(rest, m.tree.raw(other))
		}
		m.add("drop-element", element, "", n.start, n.end, "["+strings.Join(rest, ", ")+"]")
	}
}

func (m *mutator) literal(n *node) {
	if isFieldName(n) {
		return
	}
	set := func(to string) { m.add("constant", n, to, n.start, n.end, to) }
	switch value := n.expr.AsLiteral().(type) {
	case types.Bool:
		set(strconv.FormatBool(!bool(value)))
	case types.Int:
		set(strconv.FormatInt(int64(value)+1, 10))
		set(strconv.FormatInt(int64(value)-1, 10))
	case types.Uint:
		set(strconv.FormatUint(uint64(value)+1, 10) + "u")
	case types.Double:
		set(fmt.Sprintf("%f", float64(value)+1))
	case types.String:
		set(quoted(string(value) + "~"))
	}
}

// isFieldName: the parser makes a literal of the name in self.?name.
func isFieldName(n *node) bool {
	return n.parent != nil && n.parent.call() == operators.OptSelect && n == n.parent.children[1]
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}
