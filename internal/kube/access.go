package kube

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Access asks the API server what users may do.
type Access struct {
	client authorizationclient.SubjectAccessReviewInterface
}

// NewAccess makes an access reviewer; its own account needs create on
// subjectaccessreviews.authorization.k8s.io.
func NewAccess(config *rest.Config) (*Access, error) {
	client, err := authorizationclient.NewForConfig(unthrottled(config))
	if err != nil {
		return nil, fmt.Errorf("make an access reviewer: %w", err)
	}
	return &Access{client: client.SubjectAccessReviews()}, nil
}

// Review answers one SubjectAccessReview. Nothing of it is stored.
func (a *Access) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	review, err := a.client.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("create a subject access review: %w", err)
	}
	return review.Status, nil
}
