package cel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// crdActivation binds self and oldSelf.
type crdActivation struct {
	self, oldSelf ref.Val // oldSelf is nil without an old value
}

// ResolveName implements interpreter.Activation.
func (a *crdActivation) ResolveName(name string) (any, bool) {
	switch name {
	case schemacel.ScopedVarName:
		return a.self, true
	case schemacel.OldScopedVarName:
		return a.oldSelf, a.oldSelf != nil
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (*crdActivation) Parent() interpreter.Activation { return nil }

// newCRDActivation reads the values by the node's schema. oldSelf is bound where
// any of the node's rules uses it.
func newCRDActivation(rules []crdRule, n *crdNode, self, oldSelf any) *crdActivation {
	a := &crdActivation{self: n.values.val(self)}
	if oldSelf != nil && usesOldSelf(rules) {
		a.oldSelf = n.values.val(oldSelf)
	}
	return a
}

func usesOldSelf(rules []crdRule) bool {
	for i := range rules {
		if rules[i].usesOldSelf {
			return true
		}
	}
	return false
}

// vars gives what the rule's expression sees; its message sees a.
func (r *crdRule) vars(a *crdActivation) interpreter.Activation {
	if r.optional {
		return a.withOptional()
	}
	return a
}

// withOptional is the same for a rule with optionalOldSelf.
func (a *crdActivation) withOptional() *crdActivation {
	if a.oldSelf == nil {
		return &crdActivation{self: a.self, oldSelf: types.OptionalNone}
	}
	return &crdActivation{self: a.self, oldSelf: types.OptionalOf(a.oldSelf)}
}

// message words a denial. An error ends the evaluation: the budget is spent.
func (j *crdJudge) message(r *crdRule, a *crdActivation) (string, error) {
	if r.message == nil {
		return r.fallback(), nil
	}
	result, cost, err := evaluate(j.ctx, r.message, a)
	switch {
	case cost > uint64(j.budget):
		return "", errMessageBudget
	case overLimit(err):
		return "", fmt.Errorf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", r.source.MessageExpression)
	}
	j.budget -= int64(cost)
	if text, ok := messageText(result); ok && err == nil {
		return text, nil
	}
	return r.fallback(), nil
}

var errMessageBudget = errors.New("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run")

// messageText accepts what the API server does: one line, not empty, of 5 KiB at
// most.
func messageText(result ref.Val) (string, bool) {
	if result == nil {
		return "", false
	}
	text, ok := result.Value().(string)
	text = strings.TrimSpace(text)
	return text, ok && text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n")
}
