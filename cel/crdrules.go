package cel

import (
	"context"
	"errors"
	"math"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/utils/ptr"
)

// crdJudge evaluates a tree's rules with the stock validator's verdicts, texts
// and budget. Of a rule error the finding has the cause alone.
type crdJudge struct {
	ctx      context.Context
	budget   int64
	findings []Finding
	warnings []string
}

// judge gives the findings of a pair of objects, and as warnings the denials that
// ratcheting lets pass. old is nil on CREATE.
func (t *crdTree) judge(ctx context.Context, self, old any) ([]Finding, []string) {
	j := &crdJudge{ctx: ctx, budget: celconfig.RuntimeCELCostBudget}
	w := &crdWalk{tree: t, new: self, old: old, visitor: j}
	w.run()
	return j.findings, j.warnings
}

func (j *crdJudge) visit(w *crdWalk, n *crdNode, self, oldSelf any) bool {
	rules := w.tree.rules[n.index]
	if j.budget <= 0 {
		j.fail(w, EngineRule, outOfBudget)
		return false
	}
	a := newCRDActivation(rules, n, self, oldSelf)
	for i := range rules {
		if rules[i].skips(oldSelf) {
			continue
		}
		if !j.rule(w, n, &rules[i], a, self) {
			return false
		}
	}
	return true
}

// skips: a transition rule needs a value to compare with.
func (r *crdRule) skips(oldSelf any) bool {
	return r.usesOldSelf && oldSelf == nil && !r.optional
}

// rule judges one rule; false means that the budget or the time is spent.
func (j *crdJudge) rule(w *crdWalk, n *crdNode, r *crdRule, a *crdActivation, self any) bool {
	if err := j.ctx.Err(); err != nil {
		j.fail(w, r.id, err.Error())
		return false
	}
	result, cost, err := evaluate(j.ctx, r.program, r.vars(a))
	if cost > uint64(j.budget) {
		j.fail(w, EngineRule, outOfBudget)
		return false
	}
	j.budget -= int64(cost)
	switch {
	case err != nil:
		j.fail(w, r.id, err.Error())
		return !overLimit(err)
	case result == types.True:
		return true
	}
	return j.deny(w, n, r, a, self)
}

// evaluate runs a program. A cost that is not known is above any budget.
func evaluate(ctx context.Context, program celgo.Program, vars any) (ref.Val, uint64, error) {
	result, details, err := program.ContextEval(ctx, vars)
	if cost := details.ActualCost(); cost != nil {
		return result, *cost, err
	}
	return nil, math.MaxUint64, err
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// overLimit: a call above its own limit ends the evaluation of all rules.
func overLimit(err error) bool {
	var cancelled interpreter.EvalCancelledError
	return errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded
}

// fail records that a rule could not be evaluated, which is not ratcheted.
func (j *crdJudge) fail(w *crdWalk, rule, cause string) {
	j.findings = append(j.findings, Finding{Rule: rule, Outcome: RuleError, Message: cause, Field: shown(w.fieldPath())})
}

// deny records a denial, or a warning where the rule is ratcheted; false means
// that the message ended the evaluation.
func (j *crdJudge) deny(w *crdWalk, n *crdNode, r *crdRule, a *crdActivation, self any) bool {
	at := w.fieldPath()
	if r.field != "" {
		at = at.Child(r.field)
	}
	message, err := j.message(r, a)
	if err != nil {
		j.add(w, r, Finding{Rule: EngineRule, Outcome: RuleError, Message: err.Error(), Field: shown(at)}, field.Invalid(at, n.kind, err.Error()))
		return false
	}
	if n.kind == "object" || n.kind == "array" {
		self = field.OmitValueType{}
	}
	e := fieldError(at, self, message, r.source.Reason)
	j.add(w, r, Finding{Rule: r.id, Outcome: Deny, Message: e.Detail, Field: shown(at), Reason: string(e.Type)}, e)
	return true
}

// add records a finding, or where the rule is ratcheted the API server's warning.
func (j *crdJudge) add(w *crdWalk, r *crdRule, f Finding, e *field.Error) {
	if !r.usesOldSelf && w.unchanged() {
		j.warnings = append(j.warnings, e.Error())
		return
	}
	j.findings = append(j.findings, f)
}

// fieldError is what the API server makes of the reason. A duplicate is printed
// without any message.
func fieldError(at *field.Path, value any, message string, reason *apiextensionsv1.FieldValueErrorReason) *field.Error {
	switch ptr.Deref(reason, apiextensionsv1.FieldValueInvalid) {
	case apiextensionsv1.FieldValueForbidden:
		return field.Forbidden(at, message)
	case apiextensionsv1.FieldValueRequired:
		return field.Required(at, message)
	case apiextensionsv1.FieldValueDuplicate:
		return field.Duplicate(at, value)
	}
	return field.Invalid(at, value, message)
}

// shown leaves out the root's path, which field errors print as <nil>.
func shown(at *field.Path) string {
	if at == nil {
		return ""
	}
	return at.String()
}
