package cel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// gateRule is a compiled rule of the webhook that no CRD holds.
type gateRule struct {
	rule *Rule
	path []string
	// program gives the verdict; message is nil without messageExpression.
	program, message celgo.Program
	field            string
	reads            []gateRead
}

// gateRead is a compiled live read; program is nil where a namespace is listed.
type gateRead struct {
	variable string
	resource string
	program  celgo.Program
}

// The environments of gate rules are those of a ValidatingAdmissionPolicy, with
// the rule's own node in place of the objects. Messages do not see the
// authorizer there, nor here; the live world only the webhook sees.
var (
	gateNameEnv    = sync.OnceValues(func() (*celgo.Env, error) { return newGateEnv() })
	gateEnv        = sync.OnceValues(func() (*celgo.Env, error) { return newGateEnv(authorizerVariable) })
	gateLiveEnv    = sync.OnceValues(func() (*celgo.Env, error) { return newGateEnv(authorizerVariable, liveVariable) })
	gateMessageEnv = sync.OnceValues(func() (*celgo.Env, error) { return newGateEnv(liveVariable) })

	authorizerVariable = celgo.Variable(admissioncel.AuthorizerVarName, library.AuthorizerType)
	liveVariable       = celgo.Variable(liveVar, celgo.MapType(celgo.StringType, celgo.DynType))
)

func newGateEnv(variables ...celgo.EnvOption) (*celgo.Env, error) {
	request := admissioncel.BuildRequestType()
	options := append([]celgo.EnvOption{
		celgo.Variable(selfVar, celgo.DynType),
		celgo.Variable(oldSelfVar, celgo.DynType),
		celgo.Variable(admissioncel.RequestVarName, request.CelType()),
	}, variables...)
	set, err := baseEnvSet().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
		DeclTypes:         []*apiservercel.DeclType{request},
	}, environment.StrictCostOpt)
	if err != nil {
		return nil, fmt.Errorf("make environment of gate rules: %w", err)
	}
	return set.StoredExpressionsEnv(), nil
}

func (r *Rule) gateEnvs() (expression, message *celgo.Env, err error) {
	if len(r.Live) == 0 {
		expression, err = gateEnv()
		message, messageErr := gateNameEnv()
		return expression, message, errors.Join(err, messageErr)
	}
	expression, err = gateLiveEnv()
	message, messageErr := gateMessageEnv()
	return expression, message, errors.Join(err, messageErr)
}

// newGateRule compiles a gate rule and its live reads.
func newGateRule(r *Rule) (*gateRule, error) {
	g, err := compileGateRule(r)
	if err != nil {
		return nil, fmt.Errorf("compile rule %s: %w", r.ID, err)
	}
	return g, nil
}

func compileGateRule(r *Rule) (*gateRule, error) {
	g := &gateRule{rule: r, path: steps(r.Path), field: join(r.Path, strings.TrimPrefix(r.FieldPath, "."))}
	env, messageEnv, err := r.gateEnvs()
	if err != nil {
		return nil, err
	}
	var checked *celgo.Ast
	if g.program, checked, err = compileExpression(env, r.Expression, celgo.BoolType); err != nil {
		return nil, err
	}
	if err := r.undeclared(checked); err != nil {
		return nil, err
	}
	if strings.TrimSpace(r.MessageExpression) != "" {
		if g.message, checked, err = compileExpression(messageEnv, r.MessageExpression, celgo.StringType); err != nil {
			return nil, fmt.Errorf("messageExpression: %w", err)
		}
		if err := r.undeclared(checked); err != nil {
			return nil, fmt.Errorf("messageExpression: %w", err)
		}
	}
	g.reads, err = compileReads(r)
	return g, err
}

// compileReads: a name may be of any type until it is evaluated, since a gate
// rule's nodes have none.
func compileReads(r *Rule) ([]gateRead, error) {
	var reads []gateRead
	for _, variable := range slices.Sorted(maps.Keys(r.Live)) {
		read := gateRead{variable: variable, resource: r.Live[variable].Resource}
		if name := r.Live[variable].Name; name != "" {
			env, err := gateNameEnv()
			if err != nil {
				return nil, err
			}
			read.program, _, err = compileExpression(env, name, celgo.StringType, celgo.DynType)
			if err != nil {
				return nil, fmt.Errorf("live.%s.name: %w", variable, err)
			}
		}
		reads = append(reads, read)
	}
	return reads, nil
}

// ErrUndeclaredLive says that an expression uses a live variable that its rule
// does not read.
var ErrUndeclaredLive = errors.New("not among the rule's live reads")

func (r *Rule) undeclared(checked *celgo.Ast) error {
	var problems []error
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind || e.AsSelect().Operand().AsIdent() != liveVar {
			return
		}
		if name := e.AsSelect().FieldName(); r.Live[name].Resource == "" {
			problems = append(problems, fmt.Errorf("live.%s: %w", name, ErrUndeclaredLive))
		}
	}))
	return errors.Join(problems...)
}
