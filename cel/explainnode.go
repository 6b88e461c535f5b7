package cel

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// node explains a sub-expression and what it consists of.
func (x *explainer) node(e ast.Expr, vars interpreter.Activation) *Explanation {
	value := x.value(e, vars)
	n := &Explanation{Source: x.text(e), Value: shownValue(value), value: value}
	switch e.Kind() {
	case ast.CallKind:
		n.Children, n.follows = x.call(e, vars)
	case ast.ComprehensionKind:
		n.Children, n.follows = x.loop(e, vars)
	}
	return n
}

func (x *explainer) call(e ast.Expr, vars interpreter.Activation) ([]*Explanation, following) {
	switch function := e.AsCall().FunctionName(); function {
	case operators.LogicalAnd:
		return x.terms(chain(e, function), types.False, vars), sameChildren
	case operators.LogicalOr:
		return x.terms(chain(e, function), types.True, vars), sameChildren
	case operators.Conditional:
		return x.conditional(e.AsCall().Args(), vars), lastChild
	case operators.LogicalNot:
		return []*Explanation{x.node(e.AsCall().Args()[0], vars)}, allChildren
	}
	var children []*Explanation
	for _, operand := range operands(e) {
		children = append(children, x.node(operand, vars))
	}
	return children, noChild
}

// terms explains the parts of a chain up to the one that settles it.
func (x *explainer) terms(terms []ast.Expr, settles ref.Val, vars interpreter.Activation) []*Explanation {
	var children []*Explanation
	settled := false
	for _, term := range terms {
		child := &Explanation{Source: x.text(term)}
		if !settled {
			child = x.node(term, vars)
			settled = child.value == settles
		}
		children = append(children, child)
	}
	return children
}

func (x *explainer) conditional(args []ast.Expr, vars interpreter.Activation) []*Explanation {
	condition := x.node(args[0], vars)
	children := []*Explanation{condition}
	for i, branch := range args[1:] {
		child := &Explanation{Source: x.text(branch)}
		if condition.value == types.Bool(i == 0) {
			child = x.node(branch, vars)
		}
		children = append(children, child)
	}
	return children
}

// chain gives the terms of nested calls of one operator, which the parser
// balances, in the order in which they are written.
func chain(e ast.Expr, operator string) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operator {
		return []ast.Expr{e}
	}
	var terms []ast.Expr
	for _, arg := range e.AsCall().Args() {
		terms = append(terms, chain(arg, operator)...)
	}
	return terms
}

// operands leaves literals out: their text says all.
func operands(e ast.Expr) []ast.Expr {
	call := e.AsCall()
	var out []ast.Expr
	if call.IsMemberFunction() {
		out = append(out, call.Target())
	}
	for _, arg := range call.Args() {
		switch arg.Kind() {
		case ast.LiteralKind, ast.ListKind, ast.MapKind:
		default:
			out = append(out, arg)
		}
	}
	return out
}
