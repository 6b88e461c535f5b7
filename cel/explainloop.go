package cel

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// predicates are the macros whose last argument is a condition on each item, and
// the value of it that ends the loop.
var predicates = map[string]ref.Val{
	operators.Exists: types.True, operators.All: types.False,
	operators.ExistsOne: nil, "existsOne": nil, operators.Filter: nil,
}

// loop explains a macro item by item, up to the one that settles it.
func (x *explainer) loop(e ast.Expr, vars interpreter.Activation) ([]*Explanation, following) {
	loop := e.AsComprehension()
	condition, settles, ok := x.predicate(e)
	if !ok {
		return nil, noChild
	}
	var children []*Explanation
	for _, item := range itemsOf(x.value(loop.IterRange(), vars), loop.IterVar2() != "") {
		bound := map[string]any{loop.IterVar(): item.first}
		source := loop.IterVar() + " = " + shownValue(item.first)
		if loop.IterVar2() != "" {
			bound[loop.IterVar2()] = item.second
			source += ", " + loop.IterVar2() + " = " + shownValue(item.second)
		}
		inner, err := interpreter.NewActivation(bound)
		if err != nil {
			return nil, noChild
		}
		step := x.node(condition, interpreter.NewHierarchicalActivation(vars, inner))
		children = append(children, &Explanation{
			Source: source, Value: step.Value, value: step.value, follows: allChildren, Children: []*Explanation{step},
		})
		if settles != nil && step.value == settles {
			break
		}
	}
	if settles == nil {
		return children, noChild
	}
	return children, sameChildren
}

// predicate finds a macro's condition in what the macro became.
func (x *explainer) predicate(e ast.Expr) (condition ast.Expr, settles ref.Val, ok bool) {
	macro, isMacro := x.checked.SourceInfo().GetMacroCall(e.ID())
	if !isMacro {
		return nil, nil, false
	}
	call := macro.AsCall()
	settles, ok = predicates[call.FunctionName()]
	if !ok || len(call.Args()) == 0 {
		return nil, nil, false
	}
	wanted := call.Args()[len(call.Args())-1].ID()
	ast.PreOrderVisit(e.AsComprehension().LoopStep(), ast.NewExprVisitor(func(part ast.Expr) {
		if part.ID() == wanted && condition == nil {
			condition = part
		}
	}))
	return condition, settles, condition != nil
}

type loopItem struct{ first, second ref.Val }

// itemsOf: with one variable, a list gives its items and a map its keys; with
// two, indexes or keys come first.
func itemsOf(over ref.Val, two bool) []loopItem {
	var items []loopItem
	switch all := over.(type) {
	case traits.Lister:
		for it := all.Iterator(); it.HasNext() == types.True; {
			item := loopItem{first: it.Next()}
			if two {
				item = loopItem{types.Int(len(items)), item.first}
			}
			items = append(items, item)
		}
	case traits.Mapper:
		for it := all.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			items = append(items, loopItem{key, all.Get(key)})
		}
		slices.SortFunc(items, func(a, b loopItem) int { return strings.Compare(valueText(a.first), valueText(b.first)) })
	}
	return items
}
