package cel

import (
	"context"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/parser"
)

// Explanation shows how an expression came to its value.
type Explanation struct {
	// Source is the sub-expression, in one line; for a step of a loop, the item.
	Source string `json:"source"`
	// Value is the value as CEL spells it, "error: …", or empty where the
	// evaluation did not get there.
	Value string `json:"value,omitempty"`
	// Field is the place of the node that self stands for, on the topmost only.
	Field string `json:"field,omitempty"`
	// Decided marks the sub-expressions that the verdict follows from.
	Decided  bool           `json:"decided,omitempty"`
	Children []*Explanation `json:"children,omitempty"`

	value   ref.Val
	follows following
}

// following says which children a value follows from.
type following uint8

const (
	noChild      following = iota // the children only show what was compared
	sameChildren                  // those of the same value, as in a && b
	allChildren                   // as in !a
	lastChild                     // the branch that was taken
)

// decide marks the leaves that the value follows from.
func (n *Explanation) decide() {
	reasons := n.reasons()
	n.Decided = len(reasons) == 0
	for _, child := range reasons {
		child.decide()
	}
}

func (n *Explanation) reasons() []*Explanation {
	var out []*Explanation
	for _, child := range n.Children {
		switch {
		case child.value == nil || n.follows == noChild:
		case n.follows == lastChild:
			out = []*Explanation{child}
		case n.follows == allChildren || sameOutcome(n.value, child.value):
			out = append(out, child)
		}
	}
	return out
}

func sameOutcome(a, b ref.Val) bool { return a == b || types.IsError(a) && types.IsError(b) }

// notJudged is the value of a rule that the request does not lead to.
const notJudged = "not judged"

// Explain evaluates a rule on a request part by part, apart from the verdict
// programs. A rule that is judged at several places gets a child for each; one
// that is not judged has no children. It is made for people, not for speed.
func (e *Engine) Explain(ctx context.Context, ruleID string, r *Request) (*Explanation, error) {
	evaluations, err := e.evaluations(ruleID, r)
	if err != nil {
		return nil, fmt.Errorf("explain rule %s: %w", ruleID, err)
	}
	x, err := e.newExplainer(ctx, ruleID)
	if err != nil {
		return nil, fmt.Errorf("explain rule %s: %w", ruleID, err)
	}
	out := &Explanation{Source: x.text(x.root), Value: notJudged}
	for _, evaluation := range evaluations {
		run := x.node(x.root, evaluation.vars)
		run.Field = evaluation.field
		run.decide()
		out.Children = append(out.Children, run)
	}
	switch len(out.Children) {
	case 0:
		return out, nil
	case 1:
		return out.Children[0], nil
	}
	out.Value = fmt.Sprintf("judged at %d places", len(out.Children))
	return out, nil
}

func (e *Engine) newExplainer(ctx context.Context, id string) (*explainer, error) {
	env, err := e.RuleEnv(id)
	if err != nil {
		return nil, err
	}
	env, err = env.Extend(celgo.EnableMacroCallTracking())
	if err != nil {
		return nil, fmt.Errorf("make environment: %w", err)
	}
	checked, issues := env.Compile(e.expression(id))
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return &explainer{ctx: ctx, env: env, checked: checked.NativeRep(), root: checked.NativeRep().Expr()}, nil
}

func (e *Engine) expression(id string) string {
	_, rules := e.resourceOf(id)
	if i := rules.gate(id); i >= 0 {
		return rules.gates[i].rule.Expression
	}
	n, i, tree := rules.find(id)
	return tree.rules[n.index][i].source.Rule
}

// explainer evaluates sub-expressions, each as a program of its own. The root is
// the whole expression.
type explainer struct {
	ctx     context.Context
	env     *celgo.Env
	checked *ast.AST
	root    ast.Expr
}

// value evaluates a sub-expression; what goes wrong is the value.
func (x *explainer) value(e ast.Expr, vars interpreter.Activation) ref.Val {
	part := ast.NewCheckedAST(ast.NewAST(e, x.checked.SourceInfo()), x.checked.TypeMap(), x.checked.ReferenceMap())
	program, err := x.env.PlanProgram(part)
	if err != nil {
		return types.WrapErr(err)
	}
	result, _, err := program.ContextEval(x.ctx, vars)
	if err != nil {
		return types.WrapErr(err)
	}
	return result
}

func (x *explainer) text(e ast.Expr) string {
	text, err := parser.Unparse(e, x.checked.SourceInfo())
	if err != nil {
		return fmt.Sprintf("expression %d", e.ID())
	}
	return text
}
