package doctor

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"

	"github.com/quorate/quorate/cel"
)

// scope is a kind of request.
type scope struct {
	group, version, resource, subresource string
	operation                             cel.Operation
}

func (s scope) String() string {
	return fmt.Sprintf("%s of %s", s.operation, strings.TrimSuffix(s.resource+"/"+s.subresource, "/"))
}

var operations = []cel.Operation{cel.Create, cel.Update, cel.Delete}

// judgeCoverage holds the entries' rules against the rules that there are.
func judgeCoverage(entries []admissionregistrationv1.ValidatingWebhook, e Expected) []Finding {
	var open, needless []string
	for _, s := range scopes(e.CRDs) {
		wanted, covered := e.Handles(s.resource, s.operation, s.subresource), covers(entries, s)
		switch {
		case wanted && !covered:
			open = append(open, s.String())
		case covered && !wanted && s.operation == cel.Delete:
			needless = append(needless, s.resource)
		}
	}
	var findings []Finding
	if len(open) > 0 {
		findings = append(findings, Finding{Failed, "the webhook has rules for requests that it is not asked about: " + strings.Join(open, ", "), reinstall})
	}
	if len(needless) > 0 {
		findings = append(findings, Finding{Warning,
			"the webhook is asked about DELETE of " + strings.Join(needless, ", ") + " without a rule for it, so a dead webhook holds namespaces that have any", reinstall})
	}
	return append(findings, judgeReach(entries, e.Group)...)
}

// judgeReach: a fail-closed webhook on kinds of others takes the cluster with it
// when it dies.
func judgeReach(entries []admissionregistrationv1.ValidatingWebhook, group string) []Finding {
	var findings []Finding
	for _, e := range entries {
		for _, r := range e.Rules {
			if slices.Equal(r.APIGroups, []string{group}) {
				continue
			}
			findings = append(findings, Finding{Failed,
				fmt.Sprintf("%s is asked about kinds of others (API groups %q): a dead webhook would stop them", e.Name, r.APIGroups), reinstall})
		}
	}
	return findings
}

// scopes lists every kind of request that the CRDs make possible.
func scopes(crds []*apiextensionsv1.CustomResourceDefinition) []scope {
	var all []scope
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			for _, sub := range subresources(v) {
				for _, operation := range operations {
					if sub == cel.Main || operation == cel.Update {
						all = append(all, scope{crd.Spec.Group, v.Name, crd.Spec.Names.Plural, sub, operation})
					}
				}
			}
		}
	}
	return all
}

func subresources(v apiextensionsv1.CustomResourceDefinitionVersion) []string {
	all := []string{cel.Main}
	if s := v.Subresources; s != nil {
		if s.Status != nil {
			all = append(all, cel.Status)
		}
		if s.Scale != nil {
			all = append(all, cel.Scale)
		}
	}
	return all
}

// covers asks the API server's own matcher.
func covers(entries []admissionregistrationv1.ValidatingWebhook, s scope) bool {
	attributes := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{Group: s.group, Version: s.version}, "a", "a",
		schema.GroupVersionResource{Group: s.group, Version: s.version, Resource: s.resource}, s.subresource,
		admission.Operation(s.operation), nil, false, nil)
	for _, e := range entries {
		for _, r := range e.Rules {
			if m := (rules.Matcher{Rule: r, Attr: attributes}); m.Matches() {
				return true
			}
		}
	}
	return false
}
