package suite

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// conditions lists the leaf conditions of a rule in reading order: what decides,
// and is not itself put together by &&, ||, ! or ?:. The predicates of macros
// such as exists have leaves of their own. A literal is none: it has one side.
func conditions(t *tree) []*node {
	var found []*node
	collect(t.root, true, &found)
	return found
}

func collect(n *node, decides bool, found *[]*node) {
	switch function := n.call(); {
	case isLogical(function) || function == operators.LogicalNot:
		for _, c := range n.children {
			collect(c, true, found)
		}
		return
	case function == operators.Conditional:
		collect(n.children[0], true, found)
		collect(n.children[1], decides, found)
		collect(n.children[2], decides, found)
		return
	}
	if decides && n.expr.Kind() != ast.LiteralKind {
		*found = append(*found, n)
	}
	predicate := predicateOf(n)
	for i, c := range n.children {
		collect(c, i == predicate, found)
	}
}

// predicates gives, by macro and number of arguments, which argument decides
// about an element. Names follow the CEL language and its extensions.
var predicates = map[string]map[int]int{
	"exists":            {2: 1, 3: 2},
	"all":               {2: 1, 3: 2},
	"exists_one":        {2: 1, 3: 2},
	"existsOne":         {2: 1, 3: 2},
	"filter":            {2: 1},
	"map":               {3: 1},
	"transformList":     {4: 2},
	"transformMap":      {4: 2},
	"transformMapEntry": {4: 2},
}

// predicateOf gives the index of the child that is a macro's predicate, or -1.
func predicateOf(n *node) int {
	if !n.isMember() {
		return -1
	}
	arg, ok := predicates[n.call()][len(n.children)-1]
	if !ok {
		return -1
	}
	return arg + 1 // the target comes first
}

func isBool(n *node) bool {
	return n.expr.Kind() == ast.LiteralKind && n.expr.AsLiteral().Type() == types.BoolType
}

// observer is the function that an instrumented expression passes each
// condition's value through.
const observer = "observedCondition"

// instrument writes the expression with every condition wrapped in a call of the
// observer, so that each evaluation is seen, those in a comprehension's every
// step included.
func instrument(t *tree, leaves []*node) string {
	type insertion struct {
		at, order int
		text      string
	}
	var all []insertion
	for i, n := range leaves {
		all = append(all,
			insertion{n.start, i, fmt.Sprintf("%s(%d, ", observer, i)}, // outer ones come first in leaves
			insertion{n.end, -i - 1, ")"})
	}
	sort.SliceStable(all, func(a, b int) bool {
		if all[a].at != all[b].at {
			return all[a].at < all[b].at
		}
		return all[a].order < all[b].order
	})
	var out strings.Builder
	done := 0
	for _, in := range all {
		out.WriteString(string(t.source[done:in.at]) + in.text)
		done = in.at
	}
	out.WriteString(string(t.source[done:]))
	return out.String()
}

func isComparison(function string) bool {
	return slices.Contains([]string{
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals,
		operators.Greater, operators.GreaterEquals,
	}, function)
}
