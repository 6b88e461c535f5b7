package suite

import (
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/quorate/quorate/cel"
)

// typedScope is that of a rule in a CRD: self and oldSelf have the schema's type.
type typedScope struct {
	celEnv      *celgo.Env
	schema      *schema.Structural // the rule's node
	path        []string
	usesOldSelf bool
}

func newTypedScope(r *cel.Rule, k *kind) (*typedScope, error) {
	s := &typedScope{path: stepsOf(r.Path), schema: k.structural}
	for _, step := range s.path {
		next, ok := s.schema.Properties[step]
		if !ok {
			return nil, fmt.Errorf("find node %q of rule %s: %w", r.Path, r.ID, cel.ErrNoSchemaNode)
		}
		s.schema = &next
	}
	declared := model.SchemaDeclType(s.schema, len(s.path) == 0)
	if declared == nil {
		return nil, fmt.Errorf("type node %q of rule %s: %w", r.Path, r.ID, cel.ErrNoSchemaNode)
	}
	self := declared.MaybeAssignTypeName("selfType")
	env, err := extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.Variable(schemacel.ScopedVarName, self.CelType()),
			celgo.Variable(schemacel.OldScopedVarName, self.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{self},
	})
	if err != nil {
		return nil, err
	}
	s.celEnv, s.usesOldSelf = env, mentionsOldSelf(r.Expression)
	return s, nil
}

func extend(options environment.VersionedOptions) (*celgo.Env, error) {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(options)
	if err != nil {
		return nil, fmt.Errorf("make the environment: %w", err)
	}
	return set.StoredExpressionsEnv(), nil
}

func mentionsOldSelf(expression string) bool {
	t, err := parseTree(expression)
	if err != nil {
		return false
	}
	found := false
	t.walk(func(n *node) {
		found = found || n.expr.Kind() == ast.IdentKind && n.expr.AsIdent() == schemacel.OldScopedVarName
	})
	return found
}

func (s *typedScope) env() *celgo.Env { return s.celEnv }

// bind follows the API server: no rule on DELETE or where the node is absent, a
// transition rule only where it was there before.
func (s *typedScope) bind(r *cel.Request) (map[string]any, error) {
	after, ok := s.node(r.Object)
	if !ok || r.Operation == cel.Delete {
		return nil, errNotJudged
	}
	vars := map[string]any{schemacel.ScopedVarName: s.value(after)}
	if !s.usesOldSelf {
		return vars, nil
	}
	before, ok := s.node(r.OldObject)
	if !ok || r.Operation != cel.Update {
		return nil, errNotJudged
	}
	vars[schemacel.OldScopedVarName] = s.value(before)
	return vars, nil
}

func (s *typedScope) node(object map[string]any) (any, bool) {
	if object == nil {
		return nil, false
	}
	value, found, err := unstructured.NestedFieldNoCopy(object, s.path...)
	return value, found && err == nil && value != nil
}

func (s *typedScope) value(node any) any {
	return common.UnstructuredToVal(node, &model.Structural{Structural: s.schema})
}
