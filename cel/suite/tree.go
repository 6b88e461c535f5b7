package suite

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// node is a part of an expression as it is written: macros are calls, not what
// they expand to. Its text is source[start:end], parentheses around it not
// included.
type node struct {
	expr       ast.Expr
	token      int // where the operator, parenthesis or name stands
	start, end int
	parent     *node
	children   []*node // target first, then arguments; operand; elements
}

// tree is a parsed expression with the extent of each part. Offsets count
// runes.
type tree struct {
	layout
	source []rune
	root   *node
}

// ErrExpression says that an expression cannot be parsed.
var ErrExpression = errors.New("the expression cannot be parsed")

// macroless reads macros as the calls they look like.
var macroless = sync.OnceValues(func() (*parser.Parser, error) {
	return parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true), parser.Macros())
})

func parseTree(expression string) (*tree, error) {
	p, err := macroless()
	if err != nil {
		return nil, fmt.Errorf("make parser: %w", err)
	}
	parsed, issues := p.Parse(common.NewTextSource(expression))
	if len(issues.GetErrors()) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrExpression, issues.ToDisplayString())
	}
	source := []rune(expression)
	b := treeBuilder{layout: layoutOf(source), source: source, info: parsed.SourceInfo()}
	return &tree{layout: b.layout, source: source, root: b.build(parsed.Expr(), nil)}, nil
}

// text gives a part as it is written, white space shortened.
func (t *tree) text(n *node) string { return condense(t.raw(n)) }

func (t *tree) raw(n *node) string { return string(t.source[n.start:n.end]) }

// replace gives the whole expression with one stretch of it replaced.
func (t *tree) replace(start, end int, text string) string {
	return string(t.source[:start]) + text + string(t.source[end:])
}

// position gives line and column of an offset, both from 1.
func (t *tree) position(offset int) (line, column int) {
	before := string(t.source[:offset])
	line = strings.Count(before, "\n") + 1
	return line, len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
}

// walk visits each part before what it consists of, in reading order.
func (t *tree) walk(visit func(*node)) { t.root.walk(visit) }

func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, c := range n.children {
		c.walk(visit)
	}
}

// call gives the function's name, or nothing for what is no call.
func (n *node) call() string {
	if n.expr.Kind() != ast.CallKind {
		return ""
	}
	return n.expr.AsCall().FunctionName()
}

func (n *node) isMember() bool {
	return n.expr.Kind() == ast.CallKind && n.expr.AsCall().IsMemberFunction()
}

// operands flattens a chain of one logical operator: a && b && c has three,
// however the parser balanced it. Parentheses do not end a chain.
func (n *node) operands() []*node {
	var out []*node
	for _, c := range n.children {
		if c.call() == n.call() {
			out = append(out, c.operands()...)
			continue
		}
		out = append(out, c)
	}
	return out
}

func isLogical(function string) bool {
	return function == operators.LogicalAnd || function == operators.LogicalOr
}
