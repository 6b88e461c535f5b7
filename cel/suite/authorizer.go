package suite

import (
	"cmp"
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// granted is an authorizer that allows what a case lists and denies the rest.
type granted struct {
	grants           []Grant
	group, namespace string // what a grant without them means
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (g granted) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, grant := range g.grants {
		if g.covers(grant, a) {
			return authorizer.DecisionAllow, "granted by the case", nil
		}
	}
	return authorizer.DecisionDeny, "not granted by the case", nil
}

func (g granted) covers(grant Grant, a authorizer.Attributes) bool {
	return a.IsResourceRequest() &&
		grant.Verb == a.GetVerb() &&
		grant.Resource == a.GetResource() &&
		grant.Subresource == a.GetSubresource() &&
		(grant.Name == "" || grant.Name == a.GetName()) &&
		cmp.Or(grant.Group, g.group) == a.GetAPIGroup() &&
		cmp.Or(grant.Namespace, g.namespace) == a.GetNamespace()
}
