package cel

import (
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/library"
)

// covers reports whether the rule is judged for such a request.
func (r *Rule) covers(op Operation, subresource string) bool {
	return slices.Contains(r.RunsOn(), op) && slices.Contains(r.RunsFor(), subresource)
}

// applies leaves out the rules that do not bind the requester.
func (g *gateRule) applies(r *Request, controller bool) bool {
	return g.rule.covers(r.Operation, r.Subresource) && !(controller && g.rule.Binds == BindsAllButController)
}

// judgeGates evaluates gate rules in catalogue order, with a request's budget for
// all of them.
func judgeGates(ctx context.Context, gates []*gateRule, vars *gateVars, controller bool) []Finding {
	budget := uint64(celconfig.RuntimeCELCostBudget)
	var findings []Finding
	for _, g := range gates {
		if !g.applies(vars.request, controller) {
			continue
		}
		if f, ok := g.judge(ctx, vars, &budget); !ok {
			findings = append(findings, f)
		}
	}
	return findings
}

// judge gives the finding of a rule that does not hold.
func (g *gateRule) judge(ctx context.Context, vars *gateVars, budget *uint64) (Finding, bool) {
	if err := ctx.Err(); err != nil {
		return g.failed(err.Error()), false
	}
	a := vars.at(g.path)
	result, cost, err := evaluate(ctx, g.program, a)
	if !spend(budget, cost) {
		return g.unfinished(outOfBudget), false
	}
	switch {
	case err != nil:
		return g.failed(err.Error()), false
	case result == types.True:
		return Finding{}, true
	}
	message := strings.TrimSpace(g.rule.Message)
	if g.message != nil {
		text, cost, err := evaluate(ctx, g.message, a)
		if !spend(budget, cost) {
			return g.unfinished(errMessageBudget.Error()), false
		}
		if better, ok := messageText(text); ok && err == nil {
			message = better
		}
	}
	return Finding{Rule: g.rule.ID, Outcome: Deny, Message: message, Field: g.field, Reason: g.rule.Reason}, false
}

func (g *gateRule) failed(cause string) Finding {
	return Finding{Rule: g.rule.ID, Outcome: RuleError, Message: cause, Field: g.rule.Path}
}

// unfinished is a budget that is spent, which is not this rule's doing alone.
func (g *gateRule) unfinished(cause string) Finding {
	return Finding{Rule: EngineRule, Outcome: RuleError, Message: cause, Field: g.rule.Path}
}

func spend(budget *uint64, cost uint64) bool {
	if cost > *budget {
		*budget = 0
		return false
	}
	*budget -= cost
	return true
}

// gateVars holds what the gate rules of one request share. Values are made when
// a rule first asks for them. It serves one goroutine.
type gateVars struct {
	request *Request
	kind    schema.GroupVersionKind

	admission, authorizer, live ref.Val
}

// at binds the variables of the rules at a node.
func (v *gateVars) at(path []string) *gateActivation {
	return &gateActivation{
		gateVars: v,
		self:     valueAt(v.request.Object, path),
		oldSelf:  valueAt(v.request.OldObject, path),
	}
}

// valueAt gives the node as a policy sees it: schemaless, null where it or
// anything above is absent.
func valueAt(object map[string]any, path []string) ref.Val {
	if object == nil {
		return types.NullValue
	}
	var value any = object
	for _, step := range path {
		parent, ok := value.(map[string]any)
		if !ok {
			return types.NullValue
		}
		value = parent[step]
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

type gateActivation struct {
	*gateVars
	self, oldSelf ref.Val
}

// ResolveName implements interpreter.Activation.
func (a *gateActivation) ResolveName(name string) (any, bool) {
	switch name {
	case selfVar:
		return a.self, true
	case oldSelfVar:
		return a.oldSelf, true
	case admissioncel.RequestVarName:
		return a.admissionRequest(), true
	case admissioncel.AuthorizerVarName:
		return a.authorizerValue(), a.request.Authorizer != nil
	case liveVar:
		return a.liveValue(), true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (*gateActivation) Parent() interpreter.Activation { return nil }

func (v *gateVars) authorizerValue() ref.Val {
	if v.authorizer == nil && v.request.Authorizer != nil {
		v.authorizer = library.NewAuthorizerVal(userInfo(v.request.User), v.request.Authorizer)
	}
	return v.authorizer
}

func (v *gateVars) liveValue() ref.Val {
	if v.live == nil {
		v.live = types.DefaultTypeAdapter.NativeToValue(v.request.Live)
	}
	return v.live
}

// admissionRequest is the request variable, of the type and by the conversion of
// a policy's.
func (v *gateVars) admissionRequest() ref.Val {
	if v.admission != nil {
		return v.admission
	}
	r, kind := v.request, metav1.GroupVersionKind(v.kind)
	resource := metav1.GroupVersionResource{Group: v.kind.Group, Version: v.kind.Version, Resource: r.Resource}
	if r.Subresource == Scale {
		kind = metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	v.admission = common.SchemalessTypedToVal(&admissionv1.AdmissionRequest{
		Kind: kind, RequestKind: &kind,
		Resource: resource, RequestResource: &resource,
		SubResource: r.Subresource, RequestSubResource: r.Subresource,
		Name: r.Name, Namespace: r.Namespace, Operation: admissionv1.Operation(r.Operation),
		UserInfo: r.User, DryRun: &r.DryRun,
	})
	return v.admission
}
