package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/quorate/quorate/cel"
)

// seen counts how often a condition was true and false.
type seen struct{ True, False int }

// watcher evaluates one rule for its conditions alone. Its program is not the one
// that verdicts come from: watching changes an expression's cost. It serves one
// goroutine.
type watcher struct {
	rule    *cel.Rule
	tree    *tree
	leaves  []*node
	program celgo.Program
	scope   scope
	seen    []seen
}

// newWatcher compiles the instrumented rule in the environment of its layers:
// that of the CRD where it has one, else that of a policy.
func newWatcher(r *cel.Rule, k *kind, group string) (*watcher, error) {
	t, err := parseTree(r.Expression)
	if err != nil {
		return nil, err
	}
	w := &watcher{rule: r, tree: t, leaves: conditions(t)}
	w.seen = make([]seen, len(w.leaves))
	if r.In(cel.LayerCRD) {
		w.scope, err = newTypedScope(r, k)
	} else {
		w.scope, err = newGateScope(r, k, group)
	}
	if err != nil {
		return nil, err
	}
	w.program, err = compileWatched(w.scope.env(), instrument(t, w.leaves), w.observe)
	return w, err
}

func compileWatched(env *celgo.Env, expression string, observe func(id, value ref.Val) ref.Val) (celgo.Program, error) {
	t := celgo.TypeParamType("T")
	env, err := env.Extend(celgo.Function(observer,
		celgo.Overload(observer+"_int_any", []*celgo.Type{celgo.IntType, t}, t, celgo.BinaryBinding(observe))))
	if err != nil {
		return nil, fmt.Errorf("prepare the environment: %w", err)
	}
	checked, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compile with observers: %w", issues.Err())
	}
	program, err := env.Program(checked, celgo.InterruptCheckFrequency(checkFrequency))
	if err != nil {
		return nil, fmt.Errorf("plan with observers: %w", err)
	}
	return program, nil
}

// checkFrequency is how many steps of a comprehension pass between two looks at
// the context.
const checkFrequency = 1000

func (w *watcher) observe(id, value ref.Val) ref.Val {
	i, ok := id.(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(id)
	}
	switch value {
	case types.True:
		w.seen[i].True++
	case types.False:
		w.seen[i].False++
	}
	return value
}

// errNotJudged says that the rule is not evaluated on a request.
var errNotJudged = errors.New("the rule is not evaluated on this request")

// watch evaluates the rule on a request and reports whether that came about at
// all. An evaluation that ends in an error came about.
func (w *watcher) watch(ctx context.Context, r *cel.Request) (bool, error) {
	vars, err := w.scope.bind(r)
	if errors.Is(err, errNotJudged) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("evaluate rule %s for its conditions: %w", w.rule.ID, err)
	}
	_, _, _ = w.program.ContextEval(ctx, vars) // the layers judge the value
	return true, ctx.Err()
}

// scope knows the variables of a rule: their types and, for a request, values.
type scope interface {
	env() *celgo.Env
	// bind gives the variables, or errNotJudged.
	bind(r *cel.Request) (map[string]any, error)
}

func stepsOf(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}
