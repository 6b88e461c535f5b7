package doctor

import (
	"reflect"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

var loadCRDs = sync.OnceValues(manifests.LoadCRDs)

// installed is the product's own CRD as a server serves it.
func installed(t *testing.T, name string) (want, live *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	crds, err := loadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		if crd.Name == name {
			crd, live = crd.DeepCopy(), crd.DeepCopy()
			live.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
			return crd, live
		}
	}
	t.Fatalf("there is no CRD %s", name)
	return nil, nil
}

// own rule, so that the test does not depend on which rules there are.
var own = apiextensionsv1.ValidationRule{Rule: "self.x == 1", Message: "No. Do that. (own-rule)"}

func TestJudgeCRD(t *testing.T) {
	root := func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	spec := func(crd *apiextensionsv1.CustomResourceDefinition, change func(*apiextensionsv1.JSONSchemaProps)) {
		s := root(crd).Properties["spec"]
		change(&s)
		root(crd).Properties["spec"] = s
	}
	for _, tc := range []struct {
		name   string
		change func(want, live *apiextensionsv1.CustomResourceDefinition)
		want   []Finding
	}{
		{"the same", func(_, _ *apiextensionsv1.CustomResourceDefinition) {},
			[]Finding{{State: OK, Seen: "CRD etcds.quorate.dev has the rules and the schema of this version"}}},
		{"other words for people", func(_, live *apiextensionsv1.CustomResourceDefinition) { root(live).Description = "Another." },
			[]Finding{{State: OK, Seen: "CRD etcds.quorate.dev has the rules and the schema of this version"}}},
		{"a rule is missing", func(want, _ *apiextensionsv1.CustomResourceDefinition) {
			root(want).XValidations = append(root(want).XValidations, own)
		}, []Finding{{Failed, "CRD etcds.quorate.dev lacks rules of this version: own-rule", updateCRDs}}},
		{"a rule is foreign", func(_, live *apiextensionsv1.CustomResourceDefinition) {
			root(live).XValidations = append(root(live).XValidations, apiextensionsv1.ValidationRule{Rule: "self.y\n  == 2"})
		}, []Finding{{Warning, "CRD etcds.quorate.dev has rules that this version does not know: self.y == 2", updateCRDs}}},
		{"a rule is changed", func(want, live *apiextensionsv1.CustomResourceDefinition) {
			changed := own
			changed.Rule, changed.FieldPath = "true", ".x"
			root(want).XValidations = append(root(want).XValidations, own)
			root(live).XValidations = append(root(live).XValidations, changed)
		}, []Finding{{Failed, "CRD etcds.quorate.dev has rules that differ from this version's: own-rule (fieldPath, rule)", updateCRDs}}},
		{"a rule stands elsewhere", func(want, live *apiextensionsv1.CustomResourceDefinition) {
			root(want).XValidations = append(root(want).XValidations, own)
			spec(live, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = append(s.XValidations, own) })
		}, []Finding{{Failed, "CRD etcds.quorate.dev has rules that differ from this version's: own-rule (path)", updateCRDs}}},
		{"another limit, a field more, another list", func(_, live *apiextensionsv1.CustomResourceDefinition) {
			spec(live, func(s *apiextensionsv1.JSONSchemaProps) {
				nine, replicas := 99.0, s.Properties["replicas"]
				replicas.Maximum = &nine
				s.Properties["replicas"] = replicas
				s.Properties["more"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
			})
		}, []Finding{{Warning, "CRD etcds.quorate.dev has another schema than this version, at: spec.more type, spec.replicas maximum", updateCRDs}}},
		{"no status", func(_, live *apiextensionsv1.CustomResourceDefinition) {
			live.Spec.Versions[0].Subresources.Status = nil
		},
			[]Finding{{Warning, "CRD etcds.quorate.dev has another schema than this version, at: subresources", updateCRDs}}},
		{"not served", func(_, live *apiextensionsv1.CustomResourceDefinition) { live.Spec.Versions[0].Served = false },
			[]Finding{{Failed, "CRD etcds.quorate.dev does not serve version v1alpha1", updateCRDs}}},
		{"another version", func(_, live *apiextensionsv1.CustomResourceDefinition) { live.Spec.Versions[0].Name = "v1" },
			[]Finding{{Failed, "CRD etcds.quorate.dev does not serve version v1alpha1", updateCRDs}}},
		{"not established", func(_, live *apiextensionsv1.CustomResourceDefinition) { live.Status.Conditions = nil },
			[]Finding{{Failed, "CRD etcds.quorate.dev is not established, so its kind is not served", "Look at its conditions: kubectl describe crd etcds.quorate.dev."}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, live := installed(t, "etcds.quorate.dev")
			tc.change(want, live)
			if got := JudgeCRD(want, live); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

var loadRules = sync.OnceValues(func() (*cel.Catalogue, error) { return cel.Load(rules.FS, ".") })

func ownPolicies(t *testing.T) ([]*admissionregistrationv1.ValidatingAdmissionPolicy, []*admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	catalogue, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	policies, bindings, err := cel.Policies(catalogue, DefaultNames().Controller())
	if err != nil {
		t.Fatal(err)
	}
	return policies, bindings
}

// served is a policy with what an API server adds to it.
func served(p *admissionregistrationv1.ValidatingAdmissionPolicy) *admissionregistrationv1.ValidatingAdmissionPolicy {
	live := p.DeepCopy()
	live.Spec = withoutRules(p)
	live.Spec.Validations = p.DeepCopy().Spec.Validations
	return live
}

func TestJudgePolicy(t *testing.T) {
	policies, _ := ownPolicies(t)
	want := policies[0]
	first := ruleName(want.Spec.Validations[0].Message, want.Spec.Validations[0].Expression)
	for _, tc := range []struct {
		name   string
		change func(*admissionregistrationv1.ValidatingAdmissionPolicy)
		want   []Finding
	}{
		{"the same", func(*admissionregistrationv1.ValidatingAdmissionPolicy) {},
			[]Finding{{State: OK, Seen: "policy " + want.Name + " has the rules of this version"}}},
		{"fail-open", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			ignore := admissionregistrationv1.Ignore
			p.Spec.FailurePolicy = &ignore
		}, []Finding{{Failed, "policy " + want.Name + " differs from this version's in: failurePolicy", updatePolicies}}},
		{"a rule less", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.Validations = p.Spec.Validations[1:]
		},
			[]Finding{{Failed, "policy " + want.Name + " lacks rules of this version: " + first, updatePolicies}}},
		{"a rule changed", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].Expression = "true" },
			[]Finding{{Failed, "policy " + want.Name + " has rules that differ from this version's: " + first + " (expression)", updatePolicies}}},
		{"a rule more", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.Validations = append(p.Spec.Validations, admissionregistrationv1.Validation{Expression: "false"})
		}, []Finding{{Warning, "policy " + want.Name + " has rules that this version does not know: false", updatePolicies}}},
		{"namespaces left out", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.NamespaceSelector.MatchLabels = map[string]string{"a": "b"}
		}, []Finding{{Failed, "policy " + want.Name + " differs from this version's in: matchConstraints", updatePolicies}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			live := served(want)
			tc.change(live)
			if got := JudgePolicy(want, live); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// What an API server fills in is no drift, whether the wanted policy names it or
// leaves it out.
func TestServerDefaultsAreNoDrift(t *testing.T) {
	want := decode[admissionregistrationv1.ValidatingAdmissionPolicy](t, `
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [quorate.dev], apiVersions: ["*"], operations: [CREATE], resources: [etcds]}]}
  validations: [{expression: "true"}]
`)
	live := decode[admissionregistrationv1.ValidatingAdmissionPolicy](t, `
metadata: {name: p}
spec:
  failurePolicy: Fail
  matchConstraints:
    matchPolicy: Equivalent
    namespaceSelector: {}
    objectSelector: {}
    resourceRules: [{apiGroups: [quorate.dev], apiVersions: ["*"], operations: [CREATE], resources: [etcds], scope: "*"}]
  validations: [{expression: "true"}]
`)
	good := []Finding{{State: OK, Seen: "policy p has the rules of this version"}}
	if got := JudgePolicy(want, live); !reflect.DeepEqual(got, good) {
		t.Errorf("got %+v", got)
	}
}
