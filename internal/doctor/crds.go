package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func checkCRDs(ctx context.Context, c Config) []Finding {
	var findings []Finding
	for _, want := range c.Expected.CRDs {
		missing := Finding{Failed, fmt.Sprintf("CRD %s is missing", want.Name), "Install it: kubectl apply -k manifests/crd."}
		live, problem := one(ctx, c, "CRD "+want.Name, "get customresourcedefinitions.apiextensions.k8s.io", missing,
			func(ctx context.Context) (*apiextensionsv1.CustomResourceDefinition, error) {
				return c.Extensions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, want.Name, metav1.GetOptions{})
			})
		switch {
		case problem == nil:
			findings = append(findings, JudgeCRD(want, live)...)
		case problem.State == Unknown: // and so will be the others
			return append(findings, *problem)
		default:
			findings = append(findings, *problem)
		}
	}
	return summed(findings, fmt.Sprintf("the %d CRDs have the rules and the schema of this version", len(c.Expected.CRDs)))
}

const updateCRDs = "Install the CRDs of this version: kubectl apply -k manifests/crd. If the live ones are newer, use a newer quorate."

// JudgeCRD compares a live CRD with this version's: is it served, and are its
// rules and its schema the same. Descriptions do not count.
func JudgeCRD(want, live *apiextensionsv1.CustomResourceDefinition) []Finding {
	findings := judgeEstablished(live)
	for _, v := range want.Spec.Versions {
		i := slices.IndexFunc(live.Spec.Versions, func(l apiextensionsv1.CustomResourceDefinitionVersion) bool { return l.Name == v.Name })
		if i < 0 || !live.Spec.Versions[i].Served {
			findings = append(findings, Finding{Failed, fmt.Sprintf("CRD %s does not serve version %s", live.Name, v.Name), updateCRDs})
			continue
		}
		findings = append(findings, judgeVersion(live.Name, v, live.Spec.Versions[i])...)
	}
	if len(findings) == 0 {
		return []Finding{{State: OK, Seen: fmt.Sprintf("CRD %s has the rules and the schema of this version", live.Name)}}
	}
	return findings
}

func judgeEstablished(live *apiextensionsv1.CustomResourceDefinition) []Finding {
	for _, c := range live.Status.Conditions {
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return []Finding{{Failed, fmt.Sprintf("CRD %s is not established, so its kind is not served", live.Name),
		fmt.Sprintf("Look at its conditions: kubectl describe crd %s.", live.Name)}}
}

func judgeVersion(name string, want, live apiextensionsv1.CustomResourceDefinitionVersion) []Finding {
	var findings []Finding
	add := func(state State, seen string, names []string) {
		if len(names) > 0 {
			findings = append(findings, Finding{state, fmt.Sprintf("CRD %s %s: %s", name, seen, list(names)), updateCRDs})
		}
	}
	rules := compare(rulesOf(want), rulesOf(live))
	add(Failed, "lacks rules of this version", rules.missing)
	add(Failed, "has rules that differ from this version's", changes(rules.changed))
	add(Warning, "has rules that this version does not know", rules.foreign)
	schema := compare(keywords(want), keywords(live))
	add(Warning, "has another schema than this version, at", slices.Concat(schema.missing, schema.foreign, slices.Sorted(maps.Keys(schema.changed))))
	return findings
}

// changes lists each with what differs in it: "scale-out-blocked (message, rule)".
func changes(changed map[string][]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		out = append(out, fmt.Sprintf("%s (%s)", name, strings.Join(changed[name], ", ")))
	}
	return out
}

// rulesOf lists a version's rules by name. A rule's place counts as part of it.
func rulesOf(v apiextensionsv1.CustomResourceDefinitionVersion) map[string]placedRule {
	rules := map[string]placedRule{}
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return rules
	}
	walk(v.Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
		for _, r := range node.XValidations {
			rules[ruleName(r.Message, r.Rule)] = placedRule{ValidationRule: r, Path: path}
		}
	})
	return rules
}

type placedRule struct {
	apiextensionsv1.ValidationRule
	Path string `json:"path"`
}

func walk(node *apiextensionsv1.JSONSchemaProps, path string, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, node)
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		child := node.Properties[name]
		walk(&child, strings.TrimPrefix(path+"."+name, "."), visit)
	}
	if node.Items != nil && node.Items.Schema != nil {
		walk(node.Items.Schema, path+"[]", visit)
	}
	if node.AdditionalProperties != nil && node.AdditionalProperties.Schema != nil {
		walk(node.AdditionalProperties.Schema, path+"{}", visit)
	}
}

// keywords gives what each node of the schema says, without texts for people, its
// rules and its children, by "path keyword"; and the version's own settings.
func keywords(v apiextensionsv1.CustomResourceDefinitionVersion) map[string]string {
	out := map[string]string{"storage": fmt.Sprint(v.Storage), "subresources": encode(v.Subresources)}
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return out
	}
	walk(v.Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
		own := *node
		own.Properties, own.Items, own.XValidations, own.Description, own.Example = nil, nil, nil, "", nil
		if own.AdditionalProperties != nil && own.AdditionalProperties.Schema != nil {
			own.AdditionalProperties = nil
		}
		for keyword, value := range fields(own) {
			out[strings.TrimSpace(path+" "+keyword)] = encode(value)
		}
	})
	return out
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(data)
}
