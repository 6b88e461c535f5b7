package parity

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/quorate/quorate/cel"
)

func (m maker) operation() cel.Operation {
	switch f := m.Float64(); {
	case f < 0.12:
		return cel.Create
	case f < 0.13:
		return cel.Delete
	}
	return cel.Update
}

func (m maker) subresource(k *kind) string {
	switch f := m.Float64(); {
	case f < 0.2:
		return cel.Status
	case f < 0.3 && k.scale:
		return cel.Scale
	}
	return cel.Main
}

func (m maker) user(controller string) authenticationv1.UserInfo {
	name := pick(m, []string{controller, Restorer, Restorer, "sam", "sam", "sam", "sam", "sam", "ünï", "system:anonymous"})
	return authenticationv1.UserInfo{Username: name, Groups: []string{"system:authenticated"}}
}

// Restorer is the requester who holds the verb override on every TalosCluster.
const Restorer = "jo"

// overrides is an authorizer that grants that, and nothing else.
type overrides struct{}

func (overrides) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser().GetName() == Restorer && a.GetVerb() == "override" && a.GetResource() == "talosclusters" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}
