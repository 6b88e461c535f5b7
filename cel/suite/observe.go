package suite

import (
	"context"
	"fmt"

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
	engine  *cel.Engine
	tree    *tree
	leaves  []*node
	program celgo.Program
	seen    []seen
}

// newWatcher compiles the instrumented rule in the environment that the engine
// compiles it in.
func newWatcher(r *cel.Rule, engine *cel.Engine) (*watcher, error) {
	t, err := parseTree(r.Expression)
	if err != nil {
		return nil, err
	}
	w := &watcher{rule: r, engine: engine, tree: t, leaves: conditions(t)}
	w.seen = make([]seen, len(w.leaves))
	env, err := engine.RuleEnv(r.ID)
	if err != nil {
		return nil, err
	}
	w.program, err = compileWatched(env, instrument(t, w.leaves), w.observe)
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

// watch evaluates the rule wherever a request leads to that, and reports whether
// it did at all. An evaluation that ends in an error counts.
func (w *watcher) watch(ctx context.Context, r *cel.Request) (bool, error) {
	evaluations, err := w.engine.Activations(w.rule.ID, r)
	if err != nil {
		return false, fmt.Errorf("evaluate rule %s for its conditions: %w", w.rule.ID, err)
	}
	for _, vars := range evaluations {
		_, _, _ = w.program.ContextEval(ctx, vars) // the layers judge the value
	}
	return len(evaluations) > 0, ctx.Err()
}
