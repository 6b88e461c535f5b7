package cel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The variables of a rule that stand for the schema node it is anchored at.
const (
	selfVar    = "self"
	oldSelfVar = "oldSelf"
	liveVar    = "live"
)

// use is one occurrence of an identifier in an expression.
type use struct {
	name string
	// offset counts code points, as CEL's positions do.
	offset int
	// scope holds the names that comprehensions bind at this place.
	scope []string
}

func (u use) free() bool { return !slices.Contains(u.scope, u.name) }

// uses lists the identifiers of an expression, in reading order. Fields, strings
// and comments are none, nor are names that macros bring along.
func uses(expression string) ([]use, error) {
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("parse expression: %w", issues.Err())
	}
	w := walker{info: parsed.NativeRep().SourceInfo(), found: map[int]use{}}
	w.visit(parsed.NativeRep().Expr(), nil)
	return slices.SortedFunc(maps.Values(w.found), func(a, b use) int { return a.offset - b.offset }), nil
}

// walker collects identifiers by offset: some macros, such as optMap, repeat
// what they are given.
type walker struct {
	info  *ast.SourceInfo
	found map[int]use
}

func (w walker) visit(e ast.Expr, scope []string) {
	switch e.Kind() {
	case ast.IdentKind:
		w.ident(e, scope)
	case ast.SelectKind:
		w.visit(e.AsSelect().Operand(), scope)
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			w.visit(e.AsCall().Target(), scope)
		}
		w.visitAll(e.AsCall().Args(), scope)
	case ast.ListKind:
		w.visitAll(e.AsList().Elements(), scope)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.visitAll([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()}, scope)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			w.visit(field.AsStructField().Value(), scope)
		}
	case ast.ComprehensionKind:
		w.comprehension(e.AsComprehension(), scope)
	}
}

func (w walker) visitAll(list []ast.Expr, scope []string) {
	for _, e := range list {
		w.visit(e, scope)
	}
}

// comprehension: the range and the start value stand outside the variables that
// it binds.
func (w walker) comprehension(c ast.ComprehensionExpr, scope []string) {
	w.visitAll([]ast.Expr{c.IterRange(), c.AccuInit()}, scope)
	result := append(slices.Clone(scope), c.AccuVar())
	step := append(slices.Clone(result), c.IterVar(), c.IterVar2())
	w.visitAll([]ast.Expr{c.LoopCondition(), c.LoopStep()}, step)
	w.visit(c.Result(), result)
}

func (w walker) ident(e ast.Expr, scope []string) {
	name := e.AsIdent()
	if at, ok := w.info.GetOffsetRange(e.ID()); ok && !strings.HasPrefix(name, "@") {
		w.found[int(at.Start)] = use{name: name, offset: int(at.Start), scope: scope}
	}
}

// mentions reports whether the identifier occurs, bound or not: the API server
// takes a rule that mentions oldSelf in any way for a transition rule.
func mentions(all []use, name string) bool {
	return slices.ContainsFunc(all, func(u use) bool { return u.name == name })
}

func mentionsFree(all []use, name string) bool {
	return slices.ContainsFunc(all, func(u use) bool { return u.name == name && u.free() })
}

// rename replaces the free identifiers self and oldSelf, for instance by
// variables.spec and variables.oldSpec. All else, comments and layout included,
// stays as it is.
func rename(expression, self, oldSelf string) (string, error) {
	all, err := uses(expression)
	if err != nil {
		return "", err
	}
	source := []rune(expression)
	var out strings.Builder
	done := 0
	for _, u := range all {
		to := map[string]string{selfVar: self, oldSelfVar: oldSelf}[u.name]
		if err := u.renamable(to); err != nil {
			return "", err
		}
		if to == "" || !u.free() {
			continue
		}
		out.WriteString(string(source[done:u.offset]) + to)
		done = u.offset + len([]rune(u.name))
	}
	return out.String() + string(source[done:]), nil
}

// renamable refuses what a renaming would change the meaning of: a comprehension
// that binds the new name, and a name with a leading dot.
func (u use) renamable(to string) error {
	root, _, _ := strings.Cut(to, ".")
	if to != "" && u.free() && slices.Contains(u.scope, root) {
		return fmt.Errorf("translate expression: %s at character %d stands where %s is bound by a macro; give that variable another name",
			u.name, u.offset+1, root)
	}
	if name, dotted := strings.CutPrefix(u.name, "."); dotted && (name == selfVar || name == oldSelfVar) {
		return fmt.Errorf("translate expression: write %s at character %d without its leading dot", name, u.offset+1)
	}
	return nil
}
