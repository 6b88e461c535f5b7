package why

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// manager is the field manager of the dry runs: the one of kubectl apply, whose
// change they stand for.
const manager = "kubectl-client-side-apply"

// API is a Server over HTTP.
type API struct {
	objects dynamic.Interface
	who     authenticationclient.SelfSubjectReviewInterface
	may     authorizationclient.SelfSubjectAccessReviewInterface
}

// NewAPI makes a client of the configuration, impersonation included. It takes
// the place of the configuration's handler of warnings.
func NewAPI(config *rest.Config) (*API, error) {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = collector{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of objects: %w", err)
	}
	who, err := authenticationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of identities: %w", err)
	}
	may, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of access reviews: %w", err)
	}
	return &API{objects: objects, who: who.SelfSubjectReviews(), may: may.SelfSubjectAccessReviews()}, nil
}

func (s *API) of(t Target) dynamic.ResourceInterface {
	if t.Namespace == "" {
		return s.objects.Resource(t.Resource)
	}
	return s.objects.Resource(t.Resource).Namespace(t.Namespace)
}

// Get implements Server.
func (s *API) Get(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	return s.of(t).Get(ctx, t.Name, metav1.GetOptions{})
}

// DryRun implements Server.
func (s *API) DryRun(ctx context.Context, t Target, a Attempt) ([]string, error) {
	var seen warnings
	err := s.send(context.WithValue(ctx, warningsKey{}, &seen), t, a)
	return seen.texts, err
}

func (s *API) send(ctx context.Context, t Target, a Attempt) error {
	dryRun, strict := []string{metav1.DryRunAll}, metav1.FieldValidationStrict
	var under []string
	if a.Subresource != "" {
		under = []string{a.Subresource}
	}
	var err error
	switch {
	case a.Create != nil:
		_, err = s.of(t).Create(ctx, a.Create, metav1.CreateOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: strict})
	case a.Replace != nil:
		_, err = s.of(t).Update(ctx, a.Replace, metav1.UpdateOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: strict}, under...)
	case a.Patch != nil:
		_, err = s.of(t).Patch(ctx, t.Name, types.MergePatchType, a.Patch,
			metav1.PatchOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: strict}, under...)
	default:
		err = s.of(t).Delete(ctx, t.Name, deleteOptions(dryRun, a.ResourceVersion))
	}
	return err
}

func deleteOptions(dryRun []string, version string) metav1.DeleteOptions {
	options := metav1.DeleteOptions{DryRun: dryRun}
	if version != "" {
		options.Preconditions = &metav1.Preconditions{ResourceVersion: &version}
	}
	return options
}

// Whoami implements Server.
func (s *API) Whoami(ctx context.Context) (authenticationv1.UserInfo, error) {
	review, err := s.who.Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, fmt.Errorf("review the own identity: %w", err)
	}
	return review.Status.UserInfo, nil
}

// Review implements Reviews.
func (s *API) Review(ctx context.Context, spec authorizationv1.SelfSubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	review, err := s.may.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("review the own rights: %w", err)
	}
	return review.Status, nil
}

type warningsKey struct{}

// warnings gathers those of one request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// collector hands a response's warnings to the request that they belong to.
type collector struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. The
// code 299 is the only one that API servers send.
func (collector) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	seen, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	seen.texts = append(seen.texts, text)
}
