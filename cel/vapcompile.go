package cel

import (
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Messages do not see the authorizer.
var (
	withAuthorizer    = admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}
	withoutAuthorizer = admissioncel.OptionalVariableDeclarations{}
)

// compilePolicy puts a policy together from the API server's parts, since its own
// function for that is not exported. The API server would find an expression
// that does not compile on evaluation only; here it is an error.
func compilePolicy(p *admissionregistrationv1.ValidatingAdmissionPolicy, env *environment.EnvSet, mode environment.Type) (validating.Validator, []error) {
	compiler, err := admissioncel.NewCompositedCompiler(env)
	if err != nil {
		return nil, []error{fmt.Errorf("prepare environment: %w", err)}
	}
	x := expressionsOf(p)
	if problems := x.check(compiler, mode); len(problems) > 0 {
		return nil, problems
	}
	var matcher matchconditions.Matcher
	if len(x.conditions) > 0 {
		filter := compiler.CompileCondition(x.conditions, withAuthorizer, mode)
		matcher = matchconditions.NewMatcher(filter, p.Spec.FailurePolicy, "policy", "validate", p.Name)
	}
	return validating.NewValidator(
		compiler.CompileCondition(x.validations, withAuthorizer, mode), matcher,
		compiler.CompileCondition(nil, withAuthorizer, mode),
		compiler.CompileCondition(x.messages, withoutAuthorizer, mode), p.Spec.FailurePolicy, nil), nil
}

// policyExpressions are a policy's expressions, wrapped as the compiler wants
// them. A validation without a message expression keeps its place in messages.
type policyExpressions struct {
	policy                            *admissionregistrationv1.ValidatingAdmissionPolicy
	conditions, validations, messages []admissioncel.ExpressionAccessor
}

func expressionsOf(p *admissionregistrationv1.ValidatingAdmissionPolicy) policyExpressions {
	x := policyExpressions{policy: p}
	for i := range p.Spec.MatchConditions {
		x.conditions = append(x.conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		x.validations = append(x.validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message admissioncel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		x.messages = append(x.messages, message)
	}
	return x
}

// check compiles each expression by itself, so that an error can name it, and
// stores the variables for those that follow.
func (x policyExpressions) check(compiler *admissioncel.CompositedCompiler, mode environment.Type) []error {
	var problems []error
	for _, v := range x.policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, withAuthorizer, mode)
		problems = append(problems, compileProblem("variable "+v.Name, result)...)
	}
	for i, condition := range x.conditions {
		result := compiler.CompileCELExpression(condition, withAuthorizer, mode)
		problems = append(problems, compileProblem("matchCondition "+x.policy.Spec.MatchConditions[i].Name, result)...)
	}
	for i, v := range x.policy.Spec.Validations {
		rule := "rule " + idIn(strings.TrimSpace(v.Message))
		problems = append(problems, compileProblem(rule, compiler.CompileCELExpression(x.validations[i], withAuthorizer, mode))...)
		if x.messages[i] != nil {
			result := compiler.CompileCELExpression(x.messages[i], withoutAuthorizer, mode)
			problems = append(problems, compileProblem(rule+": messageExpression", result)...)
		}
	}
	return problems
}

func compileProblem(what string, result admissioncel.CompilationResult) []error {
	if result.Error == nil {
		return nil
	}
	return []error{fmt.Errorf("%s: %w", what, result.Error)}
}

// joined joins problems, each with the same beginning.
func joined(beginning string, problems []error) error {
	all := make([]error, len(problems))
	for i, problem := range problems {
		all[i] = fmt.Errorf("%s: %w", beginning, problem)
	}
	return errors.Join(all...)
}
