package cel

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Request is what is judged: an admission request whose objects are decoded.
// For a scale request the objects are the parents, before and after.
type Request struct {
	Operation   Operation
	Resource    string // plural, e.g. etcds
	Subresource string // Main, Status or Scale
	Namespace   string
	Name        string // empty with generateName
	User        authenticationv1.UserInfo
	DryRun      bool
	// Object is nil on DELETE, OldObject is nil on CREATE.
	Object, OldObject map[string]any
	// Authorizer answers the authorizer variable; nil leaves it unbound, and a
	// rule that uses it ends in an error.
	Authorizer authorizer.UnconditionalAuthorizer
	// Live holds the rules' live reads by variable name; a missing name ends a
	// rule that uses it in an error.
	Live map[string]any
}
