package doctor

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const updatePolicies = "Install the policies of this version: kubectl apply -k manifests/policy. If the live ones are newer, use a newer quorate."

func checkPolicies(ctx context.Context, c Config) []Finding {
	policies, err := read(ctx, c, func(ctx context.Context) (*admissionregistrationv1.ValidatingAdmissionPolicyList, error) {
		return c.Kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return []Finding{c.unread("the policies", "list validatingadmissionpolicies.admissionregistration.k8s.io", err)}
	}
	bindings, err := read(ctx, c, func(ctx context.Context) (*admissionregistrationv1.ValidatingAdmissionPolicyBindingList, error) {
		return c.Kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return []Finding{c.unread("the policy bindings", "list validatingadmissionpolicybindings.admissionregistration.k8s.io", err)}
	}
	return judgePolicies(c.Expected, policies.Items, bindings.Items)
}

// judgePolicies: without any policy the other layers judge alone, which is well;
// with some of them it is an installation that has come apart.
func judgePolicies(e Expected, policies []admissionregistrationv1.ValidatingAdmissionPolicy, bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding) []Finding {
	var findings []Finding
	absent := 0
	for _, want := range e.Policies {
		i := slices.IndexFunc(policies, func(p admissionregistrationv1.ValidatingAdmissionPolicy) bool { return p.Name == want.Name })
		if i < 0 {
			absent++
			findings = append(findings, Finding{Failed, fmt.Sprintf("policy %s is missing", want.Name), updatePolicies})
			continue
		}
		findings = append(findings, JudgePolicy(want, &policies[i])...)
	}
	if absent > 0 && absent == len(e.Policies) {
		return []Finding{{Warning, "the policies are not installed: CRD rules and webhook judge alone", updatePolicies}}
	}
	findings = append(findings, judgeBindings(e.Bindings, bindings)...)
	return summed(findings, fmt.Sprintf("the %d policies and their bindings are those of this version", len(e.Policies)))
}

func judgeBindings(wanted []*admissionregistrationv1.ValidatingAdmissionPolicyBinding, live []admissionregistrationv1.ValidatingAdmissionPolicyBinding) []Finding {
	var findings []Finding
	for _, want := range wanted {
		i := slices.IndexFunc(live, func(b admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool { return b.Name == want.Name })
		if i < 0 {
			findings = append(findings, Finding{Failed,
				fmt.Sprintf("policy binding %s is missing, so policy %s is not enforced", want.Name, want.Spec.PolicyName), updatePolicies})
			continue
		}
		if parts := partsThatDiffer(want.Spec, live[i].Spec); len(parts) > 0 {
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
