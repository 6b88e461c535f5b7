package cel

import (
	"errors"
	"fmt"
	"slices"

	celgo "github.com/google/cel-go/cel"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// baseEnvSet is the API server's, of this version.
func baseEnvSet() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
}

// compileExpression compiles with the API server's limits, for one of the types
// wanted.
func compileExpression(env *celgo.Env, expression string, want ...*celgo.Type) (celgo.Program, *celgo.Ast, error) {
	checked, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, nil, issues.Err()
	}
	if !slices.ContainsFunc(want, checked.OutputType().IsExactType) {
		return nil, nil, fmt.Errorf("%w: want %s, got %s", ErrExpressionType, want[0], checked.OutputType())
	}
	program, err := env.Program(checked,
		celgo.CostLimit(celconfig.PerCallLimit),
		celgo.CostTracking(&library.CostEstimator{}),
		celgo.InterruptCheckFrequency(celconfig.CheckFrequency))
	return program, checked, err
}

// ErrExpressionType says that an expression gives another type than its place wants.
var ErrExpressionType = errors.New("wrong type of expression")

func referencesOldSelf(checked *celgo.Ast) bool {
	for _, reference := range checked.NativeRep().ReferenceMap() {
		if reference.Name == schemacel.OldScopedVarName {
			return true
		}
	}
	return false
}

// env gives the environment that the API server compiles the node's rules in.
func (c *nodeCompiler) env(optional bool) (*celgo.Env, error) {
	if optional {
		c.optionalOnce.Do(func() { c.optional, c.envErr = c.newEnv(true) })
		return c.optional, c.envErr
	}
	c.envOnce.Do(func() { c.typed, c.envErr = c.newEnv(false) })
	return c.typed, c.envErr
}

func (c *nodeCompiler) newEnv(optional bool) (*celgo.Env, error) {
	if c.declType == nil {
		return nil, fmt.Errorf("compile rules at %q: CEL cannot see this node", c.path)
	}
	self := c.declType.MaybeAssignTypeName("selfType")
	oldSelf := self.CelType()
	if optional {
		oldSelf = celgo.OptionalType(oldSelf)
	}
	set, err := baseEnvSet().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.Variable(schemacel.ScopedVarName, self.CelType()),
			celgo.Variable(schemacel.OldScopedVarName, oldSelf),
		},
		DeclTypes: []*apiservercel.DeclType{self},
	})
	if err != nil {
		return nil, fmt.Errorf("make environment of %q: %w", c.path, err)
	}
	return set.StoredExpressionsEnv(), nil
}
