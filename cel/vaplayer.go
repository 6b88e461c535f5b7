package cel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// vapLayer is the API server's own evaluation of ValidatingAdmissionPolicies.
type vapLayer struct {
	group    string
	rules    map[string]*Rule
	order    map[string]int
	policies []evaluator
}

type evaluator struct {
	policy    *admissionregistrationv1.ValidatingAdmissionPolicy
	validator validating.Validator
}

// NewVAPLayer judges by policies, each as if it were bound with action Deny to
// all namespaces. The API server reports its first denial alone; all are kept
// here, in the catalogue's order. A request's namespace object is not known.
func NewVAPLayer(c *Catalogue, policies []*admissionregistrationv1.ValidatingAdmissionPolicy) (Layered, error) {
	layer := &vapLayer{group: c.Group, rules: map[string]*Rule{}, order: orderOf(c)}
	for _, r := range c.Rules {
		layer.rules[r.ID] = r
	}
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	for _, p := range policies {
		if p.Spec.ParamKind != nil {
			return nil, fmt.Errorf("compile policy %s: policies with parameters are not supported", p.Name)
		}
		validator, problems := compilePolicy(p, env, environment.StoredExpressions)
		if len(problems) > 0 {
			return nil, joined("compile policy "+p.Name, problems)
		}
		layer.policies = append(layer.policies, evaluator{policy: p, validator: validator})
	}
	return layer, nil
}

func (l *vapLayer) Judge(ctx context.Context, r *Request) Verdict {
	var findings []Finding
	attributes, err := l.attributes(r)
	if err != nil {
		return VerdictOf([]Finding{{Rule: EngineRule, Outcome: RuleError, Message: err.Error()}})
	}
	for _, e := range l.policies {
		if matches(e.policy.Spec.MatchConstraints, l.group, r) {
			result := e.validator.Validate(ctx, attributes.GetResource(), attributes, nil, nil, celconfig.RuntimeCELCostBudget, r.Authorizer)
			findings = append(findings, l.findings(e.policy, result.Decisions)...)
		}
	}
	inOrder(l.order, findings)
	return VerdictOf(findings)
}

func (l *vapLayer) attributes(r *Request) (*admission.VersionedAttributes, error) {
	object, old := object(r.Object), object(r.OldObject)
	kind := kindOfEither(object, old)
	attributes := admission.NewAttributesRecord(object, old, kind, r.Namespace, r.Name,
		schema.GroupVersionResource{Group: l.group, Version: kind.Version, Resource: r.Resource},
		r.Subresource, admission.Operation(r.Operation), nil, r.DryRun, userInfo(r.User))
	versioned, err := admission.NewVersionedAttributes(attributes, kind, nil)
	if err != nil {
		return nil, fmt.Errorf("prepare request for policies: %w", err)
	}
	return versioned, nil
}

// object keeps a missing object a nil interface, as the API server has it.
func object(content map[string]any) runtime.Object {
	if content == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

func kindOfEither(objects ...runtime.Object) schema.GroupVersionKind {
	for _, o := range objects {
		if o != nil {
			return o.GetObjectKind().GroupVersionKind()
		}
	}
	return schema.GroupVersionKind{}
}

func userInfo(u authenticationv1.UserInfo) user.Info {
	extra := make(map[string][]string, len(u.Extra))
	for key, values := range u.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: extra}
}

// matches reads the constraints that Policies writes: group, operation, resource
// with subresource. Versions, selectors and wildcards of resources are not read.
func matches(m *admissionregistrationv1.MatchResources, group string, r *Request) bool {
	resource := strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/")
	return m != nil && slices.ContainsFunc(m.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) &&
			slices.Contains(rule.Operations, admissionregistrationv1.OperationType(r.Operation))
	})
}

// findings reads decisions, one a validation in the policy's order.
func (l *vapLayer) findings(p *admissionregistrationv1.ValidatingAdmissionPolicy, decisions []validating.PolicyDecision) []Finding {
	if couldNotRun(p, decisions) {
		return []Finding{{Rule: EngineRule, Outcome: RuleError, Message: decisions[0].Message}}
	}
	var out []Finding
	for i, decision := range decisions {
		if decision.Action != validating.ActionAdmit {
			out = append(out, l.finding(p.Spec.Validations[i], decision))
		}
	}
	return out
}

// couldNotRun: a policy that could not has a single decision for all validations,
// and an error that does not begin with the expression.
func couldNotRun(p *admissionregistrationv1.ValidatingAdmissionPolicy, decisions []validating.PolicyDecision) bool {
	return len(decisions) == 1 && decisions[0].Evaluation == validating.EvalError &&
		!strings.HasPrefix(decisions[0].Message, "expression '"+p.Spec.Validations[0].Expression+"' ")
}

func (l *vapLayer) finding(v admissionregistrationv1.Validation, decision validating.PolicyDecision) Finding {
	id := idIn(strings.TrimSpace(v.Message))
	if decision.Evaluation == validating.EvalError {
		text := strings.TrimPrefix(decision.Message, fmt.Sprintf("expression '%s' resulted in error: ", v.Expression))
		return Finding{Rule: id, Outcome: RuleError, Message: text, Field: l.field(id, false)}
	}
	f := Finding{Rule: id, Outcome: Deny, Message: decision.Message, Field: l.field(id, true)}
	if rule, ok := l.rules[id]; ok {
		f.Reason = rule.Reason
	}
	return f
}

// field: a policy knows no fields, so it is the rule's own; of a rule error the
// node, as the CRD validator has it.
func (l *vapLayer) field(id string, denied bool) string {
	rule, ok := l.rules[id]
	if !ok {
		return ""
	}
	if denied {
		return strings.TrimPrefix(rule.Path+rule.FieldPath, ".")
	}
	return rule.Path
}
