package parity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// names are the requesters of generated pairs.
var names = []string{world.ControllerUser, parity.Restorer, "sam", "ünï", "system:anonymous"}

// requestTimeout bounds one request.
const requestTimeout = 30 * time.Second

// rights are those that let every request of a pair reach the layers. There is no
// wildcard among the verbs: it would stand for override too.
const rights = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: parity}
rules:
- apiGroups: [quorate.dev]
  resources: ["*"]
  verbs: [create, update, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: parity}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parity}
subjects:
%s---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: parity-override}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: quorate-override}
subjects:
%s`

func subject(name string) string {
	return fmt.Sprintf("- {apiGroup: rbac.authorization.k8s.io, kind: User, name: %q}\n", name)
}

// people are clients by the user name under which they ask.
type people map[string]dynamic.Interface

// newPeople gives everybody their rights and waits until the API server knows.
func newPeople(ctx context.Context, w *world.World) (people, error) {
	var all strings.Builder
	out := people{}
	for _, name := range names {
		all.WriteString(subject(name))
		config := clientConfig(w)
		config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("make the client of %s: %w", name, err)
		}
		out[name] = client
	}
	if err := w.Apply(ctx, fmt.Sprintf(rights, &all, subject(parity.Restorer))); err != nil {
		return nil, fmt.Errorf("give the requesters their rights: %w", err)
	}
	return out, cluster.Until(ctx, "the requesters' rights", func(ctx context.Context) error { return haveRights(ctx, w) })
}

func clientConfig(w *world.World) *rest.Config {
	config := w.AdminConfig()
	config.WarningHandler = rest.NoWarnings{}
	config.Timeout = requestTimeout
	return config
}

var errRights = errors.New("the rights are others")

// haveRights: everybody may write a status, and the restorer alone may override.
func haveRights(ctx context.Context, w *world.World) error {
	for _, name := range names {
		for verb, want := range map[string]authorizationv1.ResourceAttributes{
			"update": {Resource: "etcds", Subresource: "status"}, "override": {Resource: "talosclusters"},
		} {
			want.Group, want.Verb, want.Namespace = v1alpha1.GroupVersion.Group, verb, metav1.NamespaceDefault
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &want}}
			review, err := w.Client().AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("ask whether %s may %s: %w", name, verb, err)
			}
			if review.Status.Allowed != (verb == "update" || name == parity.Restorer) {
				return fmt.Errorf("%w: %s, %s: %t", errRights, name, verb, review.Status.Allowed)
			}
		}
	}
	return nil
}
