package why

import (
	"context"
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// ErrOtherUser ends a rule that asks about somebody else's rights: people may
// review their own alone.
var ErrOtherUser = errors.New("only the requester's own rights can be reviewed")

// Reviews answers what the requester may do.
type Reviews interface {
	Review(ctx context.Context, spec authorizationv1.SelfSubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error)
}

// selfAuthorizer stands for the authorizer variable of rules, by
// SelfSubjectAccessReview.
type selfAuthorizer struct {
	reviews Reviews
	user    string
}

func (s selfAuthorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser() == nil || a.GetUser().GetName() != s.user {
		return authorizer.DecisionNoOpinion, "", ErrOtherUser
	}
	status, err := s.reviews.Review(ctx, reviewOf(a))
	switch {
	case err != nil:
		return authorizer.DecisionNoOpinion, "", fmt.Errorf("review the requester's rights: %w", err)
	case status.Allowed:
		return authorizer.DecisionAllow, status.Reason, nil
	case status.Denied:
		return authorizer.DecisionDeny, status.Reason, nil
	}
	return authorizer.DecisionNoOpinion, status.Reason, nil
}

func reviewOf(a authorizer.Attributes) authorizationv1.SelfSubjectAccessReviewSpec {
	if !a.IsResourceRequest() {
		return authorizationv1.SelfSubjectAccessReviewSpec{
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: a.GetPath(), Verb: a.GetVerb()}}
	}
	return authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: a.GetNamespace(), Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(),
		Resource: a.GetResource(), Subresource: a.GetSubresource(), Name: a.GetName(),
	}}
}
