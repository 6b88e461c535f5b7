package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/quorate/quorate/cel"
)

// AccessReviewer asks the API server what a user may do.
type AccessReviewer interface {
	Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error)
}

// errSelectors refuses a check that our access review could not narrow down as
// the API server's own authorizer would.
var errSelectors = errors.New("field and label selectors cannot be checked here")

// access answers the rules' authorizer variable for one request. It asks only
// when a rule does, and no question twice.
type access struct {
	// ctx is the request's: the authorizer library calls without one.
	ctx      context.Context
	budget   budget
	reviewer AccessReviewer

	mu       sync.Mutex
	answers  map[accessKey]answer
	failures []string
}

type accessKey struct{ user, verb, namespace, group, resource, subresource, name, path string }

type answer struct {
	decision authorizer.Decision
	reason   string
	err      error
}

var _ authorizer.UnconditionalAuthorizer = (*access)(nil)

// Authorize asks by SubjectAccessReview. Its context is not used, see access.
func (a *access) Authorize(_ context.Context, attrs authorizer.Attributes) (authorizer.Decision, string, error) {
	key := keyOf(attrs)
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.answers[key]; ok {
		return known.decision, known.reason, known.err
	}
	got := a.ask(attrs)
	if a.answers == nil {
		a.answers = map[accessKey]answer{}
	}
	a.answers[key] = got
	if got.err != nil {
		a.failures = append(a.failures, fmt.Sprintf("could not ask whether %q may %s: %s; nothing was changed, retry", key.user, key, a.budget.cause(got.err)))
	}
	return got.decision, got.reason, got.err
}

func (a *access) ask(attrs authorizer.Attributes) answer {
	spec, err := specOf(attrs)
	if err != nil {
		return answer{decision: authorizer.DecisionNoOpinion, err: err}
	}
	ctx, cancel := a.budget.bound(a.ctx)
	defer cancel()
	status, err := a.reviewer.Review(ctx, spec)
	if err != nil {
		return answer{decision: authorizer.DecisionNoOpinion, err: fmt.Errorf("review access: %w", err)}
	}
	return decided(status)
}

// decided reads a review's status. An evaluation error beside a refusal is no
// failure: a dangling role binding anywhere causes one.
func decided(status authorizationv1.SubjectAccessReviewStatus) answer {
	switch {
	case status.Denied:
		return answer{decision: authorizer.DecisionDeny, reason: status.Reason}
	case status.Allowed:
		return answer{decision: authorizer.DecisionAllow, reason: status.Reason}
	}
	return answer{decision: authorizer.DecisionNoOpinion, reason: status.Reason}
}

// settle turns the verdict of rules that were not answered into rule errors. To
// an expression a review that failed looks like a refusal, which would tell
// people that they lack a right that nobody has looked up.
func (a *access) settle(v cel.Verdict) cel.Verdict {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failures) == 0 || v.Outcome == cel.RuleError {
		return v
	}
	findings := make([]cel.Finding, 0, len(a.failures))
	for _, f := range a.failures {
		findings = append(findings, cel.Finding{Rule: accessReview, Outcome: cel.RuleError, Message: f})
	}
	settled := cel.VerdictOf(findings)
	settled.Warnings = v.Warnings
	return settled
}

func specOf(attrs authorizer.Attributes) (authorizationv1.SubjectAccessReviewSpec, error) {
	fields, fieldErr := attrs.GetFieldSelector()
	labels, labelErr := attrs.GetLabelSelector()
	if len(fields) > 0 || len(labels) > 0 || fieldErr != nil || labelErr != nil {
		return authorizationv1.SubjectAccessReviewSpec{}, errSelectors
	}
	who := attrs.GetUser()
	spec := authorizationv1.SubjectAccessReviewSpec{User: who.GetName(), Groups: who.GetGroups(), UID: who.GetUID(), Extra: extraOf(who)}
	if !attrs.IsResourceRequest() {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: attrs.GetPath(), Verb: attrs.GetVerb()}
		return spec, nil
	}
	spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Namespace: attrs.GetNamespace(), Verb: attrs.GetVerb(), Group: attrs.GetAPIGroup(), Version: attrs.GetAPIVersion(),
		Resource: attrs.GetResource(), Subresource: attrs.GetSubresource(), Name: attrs.GetName(),
	}
	return spec, nil
}

func extraOf(who user.Info) map[string]authorizationv1.ExtraValue {
	extra := make(map[string]authorizationv1.ExtraValue, len(who.GetExtra()))
	for k, v := range who.GetExtra() {
		extra[k] = slices.Clone(v)
	}
	return extra
}

func keyOf(a authorizer.Attributes) accessKey {
	return accessKey{a.GetUser().GetName(), a.GetVerb(), a.GetNamespace(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetName(), a.GetPath()}
}

// String is the question in words, e.g. override talosclusters.quorate.dev "c".
func (k accessKey) String() string {
	if k.path != "" {
		return k.verb + " " + k.path
	}
	resource := k.resource
	if k.group != "" {
		resource += "." + k.group
	}
	what := []string{k.verb, slashed(resource, k.subresource)}
	if k.name != "" {
		what = append(what, fmt.Sprintf("%q", k.name))
	}
	if k.namespace != "" {
		what = append(what, fmt.Sprintf("in namespace %q", k.namespace))
	}
	return strings.Join(what, " ")
}
