package doctor

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const updatePolicies = "Install the policies of this version: kubectl apply -k manifests/policy. If the live ones are newer, use a newer quorate."

func checkPolicies(ctx context.Context, c Config) []Finding {
	var findings []Finding
	absent := 0
	for _, want := range c.Expected.Policies {
		missing := Finding{Failed, fmt.Sprintf("policy %s is missing", want.Name), updatePolicies}
		live, problem := one(ctx, c, "policy "+want.Name, "get validatingadmissionpolicies.admissionregistration.k8s.io", missing,
			func(ctx context.Context) (*admissionregistrationv1.ValidatingAdmissionPolicy, error) {
				return c.Kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, want.Name, metav1.GetOptions{})
			})
		switch {
		case problem == nil:
			findings = append(findings, JudgePolicy(want, live)...)
		case *problem == missing:
			absent++
			fallthrough
		default:
			findings = append(findings, *problem)
		}
	}
	if absent > 0 && absent == len(c.Expected.Policies) {
		return []Finding{{Warning, "the policies are not installed: CRD rules and webhook judge alone", updatePolicies}}
	}
	return append(findings, c.bindings(ctx)...)
}

func (c Config) bindings(ctx context.Context) []Finding {
	var findings []Finding
	for _, want := range c.Expected.Bindings {
		missing := Finding{Failed, fmt.Sprintf("policy binding %s is missing, so policy %s is not enforced", want.Name, want.Spec.PolicyName), updatePolicies}
		live, problem := one(ctx, c, "policy binding "+want.Name, "get validatingadmissionpolicybindings.admissionregistration.k8s.io", missing,
			func(ctx context.Context) (*admissionregistrationv1.ValidatingAdmissionPolicyBinding, error) {
				return c.Kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(ctx, want.Name, metav1.GetOptions{})
			})
		if problem != nil {
			findings = append(findings, *problem)
			continue
		}
		if parts := partsThatDiffer(want.Spec, live.Spec); len(parts) > 0 {
			findings = append(findings, Finding{Failed, fmt.Sprintf("policy binding %s differs from this version's in %s", want.Name, list(parts)), updatePolicies})
		}
	}
	return findings
}

// JudgePolicy compares a live policy with this version's, rule by rule.
func JudgePolicy(want, live *admissionregistrationv1.ValidatingAdmissionPolicy) []Finding {
	var findings []Finding
	add := func(state State, seen string, names []string) {
		if len(names) > 0 {
			findings = append(findings, Finding{state, fmt.Sprintf("policy %s %s: %s", live.Name, seen, list(names)), updatePolicies})
		}
	}
	rules := compare(validations(want), validations(live))
	add(Failed, "lacks rules of this version", rules.missing)
	add(Failed, "has rules that differ from this version's", changes(rules.changed))
	add(Warning, "has rules that this version does not know", rules.foreign)
	add(Failed, "differs from this version's in", partsThatDiffer(withoutRules(want), withoutRules(live)))
	if len(findings) == 0 {
		return []Finding{{State: OK, Seen: fmt.Sprintf("policy %s has the rules of this version", live.Name)}}
	}
	return findings
}

func validations(p *admissionregistrationv1.ValidatingAdmissionPolicy) map[string]admissionregistrationv1.Validation {
	out := map[string]admissionregistrationv1.Validation{}
	for _, v := range p.Spec.Validations {
		out[ruleName(v.Message, v.Expression)] = v
	}
	return out
}

// withoutRules is the policy without its rules, with the API server's defaults.
func withoutRules(p *admissionregistrationv1.ValidatingAdmissionPolicy) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	spec := *p.Spec.DeepCopy()
	spec.Validations = nil
	spec.FailurePolicy = orStandard(spec.FailurePolicy, admissionregistrationv1.Fail)
	if m := spec.MatchConstraints; m != nil {
		m.MatchPolicy = orStandard(m.MatchPolicy, admissionregistrationv1.Equivalent)
		m.NamespaceSelector = orStandard(m.NamespaceSelector, metav1.LabelSelector{})
		m.ObjectSelector = orStandard(m.ObjectSelector, metav1.LabelSelector{})
		for i := range m.ResourceRules {
			m.ResourceRules[i].Scope = orStandard(m.ResourceRules[i].Scope, admissionregistrationv1.AllScopes)
		}
	}
	return spec
}

func orStandard[T any](value *T, standard T) *T {
	if value != nil {
		return value
	}
	return ptr.To(standard)
}
