package doctor

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// judgeExemption finds out whom the match conditions leave out, by evaluating
// them as the API server does: a condition can be spelled in many ways.
func judgeExemption(ctx context.Context, e admissionregistrationv1.ValidatingWebhook, controller string) []Finding {
	matcher := matcherOf(e)
	var findings []Finding
	for _, u := range append([]user.Info{&user.DefaultInfo{Name: controller, Groups: authenticated}}, strangers(controller)...) {
		called, err := asks(ctx, matcher, u)
		switch {
		case err != nil:
			return []Finding{{Failed, fmt.Sprintf("%s has match conditions that fail for %s: %v", e.Name, describe(u), err), reinstall}}
		case called && u.GetName() == controller:
			findings = append(findings, Finding{Failed,
				fmt.Sprintf("%s does not leave out %s, so a dead webhook stops the controller too", e.Name, controller), reinstall})
		case !called && u.GetName() != controller:
			findings = append(findings, Finding{Failed, fmt.Sprintf("%s is not asked about changes by %s", e.Name, describe(u)), reinstall})
		}
	}
	if len(findings) == 0 && !plainly(e.MatchConditions) {
		findings = append(findings, Finding{Warning,
			fmt.Sprintf("%s has match conditions that look at more than the user, so who is left out cannot be told for sure", e.Name), reinstall})
	}
	return findings
}

func matcherOf(e admissionregistrationv1.ValidatingWebhook) matchconditions.Matcher {
	expressions := make([]celplugin.ExpressionAccessor, len(e.MatchConditions))
	for i, c := range e.MatchConditions {
		condition := matchconditions.MatchCondition(c)
		expressions[i] = &condition
	}
	compiler := celplugin.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	fail := admissionregistrationv1.Fail
	return matchconditions.NewMatcher(
		compiler.CompileCondition(expressions, celplugin.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions),
		&fail, "webhook", "validating", e.Name)
}

// asks reports whether the webhook is called for the user's update of an Etcd.
func asks(ctx context.Context, m matchconditions.Matcher, u user.Info) (bool, error) {
	kind := schema.GroupVersionKind{Group: "quorate.dev", Version: "v1alpha1", Kind: "Etcd"}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "quorate.dev/v1alpha1", "kind": "Etcd", "metadata": map[string]any{"name": "a", "namespace": "a"}}}
	attributes := admission.NewAttributesRecord(object, object, kind, "a", "a",
		schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "etcds"}, "",
		admission.Update, &metav1.UpdateOptions{}, false, u)
	versioned, err := admission.NewVersionedAttributes(attributes, kind, nil)
	if err != nil {
		return false, fmt.Errorf("prepare a request: %w", err)
	}
	result := m.Match(ctx, versioned, nil, nil)
	return result.Matches, result.Error
}

var authenticated = []string{"system:authenticated"}

// strangers are users whom only a sloppy condition takes for the controller, and
// those who are mighty but not it.
func strangers(controller string) []user.Info {
	namespace, account, _ := strings.Cut(strings.TrimPrefix(controller, "system:serviceaccount:"), ":")
	accounts := append([]string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}, authenticated...)
	all := []user.Info{
		&user.DefaultInfo{Name: "kubernetes-admin", Groups: append([]string{"system:masters"}, authenticated...)},
		&user.DefaultInfo{Name: "alice", Groups: append([]string{controller}, authenticated...)},
		&user.DefaultInfo{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}},
	}
	for _, name := range []string{
		"system:serviceaccount:" + namespace + ":default", controller + "-2", "system:serviceaccount:other:" + account,
	} {
		all = append(all, &user.DefaultInfo{Name: name, Groups: accounts})
	}
	for _, name := range []string{
		"alice", account, "x" + controller, strings.ToUpper(controller), "system:kube-controller-manager",
	} {
		all = append(all, &user.DefaultInfo{Name: name, Groups: authenticated})
	}
	return all
}

func describe(u user.Info) string {
	return fmt.Sprintf("%s of %s", u.GetName(), strings.Join(u.GetGroups(), ", "))
}

// plainly reports whether the conditions look at the user name alone: then the
// strangers stand for everybody.
func plainly(conditions []admissionregistrationv1.MatchCondition) bool {
	for _, c := range conditions {
		rest := strings.ReplaceAll(c.Expression, "request.userInfo.username", "")
		for _, word := range []string{"object", "oldObject", "request", "authorizer", "params", "variables"} {
			if strings.Contains(rest, word) {
				return false
			}
		}
	}
	return true
}
