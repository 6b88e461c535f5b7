package suite

import (
	"slices"
	"strings"
	"unicode"

	"github.com/google/cel-go/common/ast"
)

type treeBuilder struct {
	layout
	source []rune
	info   *ast.SourceInfo
}

func (b treeBuilder) build(e ast.Expr, parent *node) *node {
	at, _ := b.info.GetOffsetRange(e.ID())
	n := &node{expr: e, token: int(at.Start), start: int(at.Start), end: int(at.Stop), parent: parent}
	for _, part := range partsOf(e) {
		n.children = append(n.children, b.build(part, n))
	}
	b.ownExtent(n)
	for _, c := range n.children {
		n.start, n.end = min(n.start, c.start), max(n.end, c.end)
	}
	b.balance(n)
	return n
}

func partsOf(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			return append([]ast.Expr{e.AsCall().Target()}, e.AsCall().Args()...)
		}
		return e.AsCall().Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, f := range e.AsStruct().Fields() {
			parts = append(parts, f.AsStructField().Value())
		}
		return parts
	}
	return nil
}

// ownExtent widens a part by what is its own besides its children: a function's
// name and closing parenthesis, a field's name.
func (b treeBuilder) ownExtent(n *node) {
	if n.token >= len(b.source) {
		return
	}
	switch {
	case n.expr.Kind() == ast.LiteralKind:
		n.end = b.literalEnd(n)
	case n.expr.Kind() == ast.SelectKind:
		n.end = b.fieldEnd(n.token + 1)
	case n.call() != "" && b.source[n.token] == '(' && !n.isMember():
		n.start = b.nameStart(n.token)
	}
	if partner, ok := b.match[n.token]; ok && partner > n.token {
		n.end = partner + 1
	}
}

// literalEnd: the parser counts a string's length in bytes, its place in runes.
func (b treeBuilder) literalEnd(n *node) int {
	for at := n.start; at < min(n.start+2, len(b.source)); at++ { // r'' and b'' have a prefix
		if slices.Contains([]rune{'\'', '"', '`'}, b.source[at]) {
			return skipString(b.source, at)
		}
	}
	return n.end
}

func (b treeBuilder) fieldEnd(at int) int {
	for at < len(b.source) && unicode.IsSpace(b.source[at]) {
		at++
	}
	if at < len(b.source) && b.source[at] == '`' {
		return at + 2 + slices.Index(b.source[at+1:], '`')
	}
	for at < len(b.source) && isNameRune(b.source[at]) {
		at++
	}
	return at
}

func (b treeBuilder) nameStart(at int) int {
	for at > 0 && unicode.IsSpace(b.source[at-1]) {
		at--
	}
	for at > 0 && isNameRune(b.source[at-1]) {
		at--
	}
	return at
}

// balance widens a part until each bracket in it has its partner in it.
func (b treeBuilder) balance(n *node) {
	for at := n.start; at < n.end; at++ {
		partner, ok := b.match[at]
		switch {
		case ok && partner < n.start:
			n.start, at = partner, partner
		case ok && partner >= n.end:
			n.end = partner + 1
		}
	}
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// condense makes one line of a text that may have several.
func condense(text string) string { return strings.Join(strings.Fields(text), " ") }
