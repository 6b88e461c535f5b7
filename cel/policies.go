package cel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ErrNotForPolicy says that a rule asks for what no ValidatingAdmissionPolicy can
// do: read the live world, or see the parent behind a scale request.
var ErrNotForPolicy = errors.New("not possible in a ValidatingAdmissionPolicy")

const (
	policyPrefix    = "quorate-"
	statusSuffix    = "-status"
	exemptSuffix    = "-controller-exempt"
	exemptCondition = "not-the-controller"
)

// Policies writes the rules of the VAP layer as policies and their bindings, by
// name: quorate-RESOURCE for the rules on the object itself, -status for those
// on its status alone, and -controller-exempt for those that leave out the
// controller, which is known by its exact user name. A policy matches no more
// operations and subresources than its rules need, and never scale requests. All
// errors are joined; see ErrNotForPolicy.
func Policies(c *Catalogue, controller string) ([]*admissionregistrationv1.ValidatingAdmissionPolicy, []*admissionregistrationv1.ValidatingAdmissionPolicyBinding, error) {
	drafts := map[string]*draft{}
	var problems []error
	for _, r := range c.Rules {
		if !r.In(LayerVAP) {
			continue
		}
		clause, err := newClause(r)
		if err == nil && clause.exempt && controller == "" {
			err = errors.New("leaves out the controller, whose user name is not given")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("write rule %s as a policy: %w", r.ID, err))
			continue
		}
		name := clause.policy()
		if drafts[name] == nil {
			drafts[name] = &draft{name: name, group: c.Group, resource: r.Resource}
		}
		drafts[name].clauses = append(drafts[name].clauses, clause)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, nil, err
	}
	policies, bindings := render(drafts, controller)
	return policies, bindings, nil
}

func render(drafts map[string]*draft, controller string) (policies []*admissionregistrationv1.ValidatingAdmissionPolicy, bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	for _, name := range slices.Sorted(maps.Keys(drafts)) {
		policies = append(policies, drafts[name].render(controller))
		bindings = append(bindings, binding(name))
	}
	return policies, bindings
}

// draft is a policy while its rules are gathered.
type draft struct {
	name, group, resource string
	clauses               []clause
}

func (d *draft) render(controller string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    ptr.To(admissionregistrationv1.Fail),
		MatchConstraints: d.match(),
		Variables:        d.variables(),
	}
	if d.clauses[0].exempt {
		spec.MatchConditions = []admissionregistrationv1.MatchCondition{{
			Name:       exemptCondition,
			Expression: "request.userInfo.username != " + literal(controller),
		}}
	}
	for _, clause := range d.clauses {
		spec.Validations = append(spec.Validations, clause.validation(d.operations(), d.subresources()))
	}
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   typeMeta("ValidatingAdmissionPolicy"),
		ObjectMeta: metav1.ObjectMeta{Name: d.name},
		Spec:       spec,
	}
}

// match names every version: a rule stands in each version of its CRD.
func (d *draft) match() *admissionregistrationv1.MatchResources {
	rule := admissionregistrationv1.Rule{
		APIGroups:   []string{d.group},
		APIVersions: []string{"*"},
		Scope:       ptr.To(admissionregistrationv1.AllScopes),
	}
	for _, subresource := range d.subresources() {
		resource := strings.TrimSuffix(d.resource+"/"+subresource, "/")
		rule.Resources = append(rule.Resources, resource)
	}
	operations := []admissionregistrationv1.OperationType{}
	for _, op := range d.operations() {
		operations = append(operations, admissionregistrationv1.OperationType(op))
	}
	return &admissionregistrationv1.MatchResources{
		MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{Operations: operations, Rule: rule},
		}},
	}
}

func (d *draft) operations() []Operation {
	return inAnyClause([]Operation{Create, Update, Delete}, func(c clause, op Operation) bool {
		return slices.Contains(c.operations, op)
	}, d.clauses)
}

func (d *draft) subresources() []string {
	return inAnyClause([]string{Main, Status}, func(c clause, s string) bool {
		return slices.Contains(c.subresources, s)
	}, d.clauses)
}

// inAnyClause keeps the values that at least one clause has, in the order given.
func inAnyClause[T any](values []T, has func(clause, T) bool, clauses []clause) []T {
	return slices.DeleteFunc(slices.Clone(values), func(v T) bool {
		return !slices.ContainsFunc(clauses, func(c clause) bool { return has(c, v) })
	})
}

// variables declares each schema node once, where its rules stand first.
func (d *draft) variables() []admissionregistrationv1.Variable {
	var out []admissionregistrationv1.Variable
	for _, clause := range d.clauses {
		for _, v := range clause.variables() {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func binding(policy string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   typeMeta("ValidatingAdmissionPolicyBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: kind}
}

// literal writes a CEL string.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}
