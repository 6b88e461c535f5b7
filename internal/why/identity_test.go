package why

import (
	"context"
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// reviewer answers one review.
type reviewer struct {
	status authorizationv1.SubjectAccessReviewStatus
	err    error
	asked  *authorizationv1.SelfSubjectAccessReviewSpec
}

func (r reviewer) Review(_ context.Context, spec authorizationv1.SelfSubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	*r.asked = spec
	return r.status, r.err
}

func TestSelfAuthorizer(t *testing.T) {
	alice := &user.DefaultInfo{Name: "alice"}
	boom := errors.New("boom")
	for _, tc := range []struct {
		name     string
		who      user.Info
		status   authorizationv1.SubjectAccessReviewStatus
		err      error
		decision authorizer.Decision
		want     error
	}{
		{"allowed", alice, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "why"}, nil, authorizer.DecisionAllow, nil},
		{"denied", alice, authorizationv1.SubjectAccessReviewStatus{Denied: true, Reason: "why"}, nil, authorizer.DecisionDeny, nil},
		{"no opinion", alice, authorizationv1.SubjectAccessReviewStatus{Reason: "why"}, nil, authorizer.DecisionNoOpinion, nil},
		{"no answer", alice, authorizationv1.SubjectAccessReviewStatus{}, boom, authorizer.DecisionNoOpinion, boom},
		{"somebody else", &user.DefaultInfo{Name: "bob"}, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, authorizer.DecisionNoOpinion, ErrOtherUser},
		{"nobody", nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, authorizer.DecisionNoOpinion, ErrOtherUser},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked authorizationv1.SelfSubjectAccessReviewSpec
			a := authorizer.AttributesRecord{User: tc.who, Verb: "override", APIGroup: "quorate.dev", Resource: "talosclusters", Namespace: "data", Name: "c", ResourceRequest: true}
			decision, reason, err := selfAuthorizer{reviewer{tc.status, tc.err, &asked}, "alice"}.Authorize(context.Background(), a)
			if decision != tc.decision || !errors.Is(err, tc.want) {
				t.Errorf("got %v, %v; want %v, %v", decision, err, tc.decision, tc.want)
			}
			if tc.want == nil && (reason != "why" || *asked.ResourceAttributes != authorizationv1.ResourceAttributes{Verb: "override", Group: "quorate.dev", Resource: "talosclusters", Namespace: "data", Name: "c"}) {
				t.Errorf("asked %+v, reason %q", asked.ResourceAttributes, reason)
			}
		})
	}
}

func TestReviewOfAPath(t *testing.T) {
	spec := reviewOf(authorizer.AttributesRecord{Path: "/metrics", Verb: "get"})
	if spec.ResourceAttributes != nil || *spec.NonResourceAttributes != (authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}) {
		t.Errorf("got %+v", spec)
	}
}
