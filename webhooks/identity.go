package webhooks

import authenticationv1 "k8s.io/api/authentication/v1"

// identity is the controller's exact user name. No prefix and no group counts:
// system:serviceaccount:quorate-system:quorate-controller-2 is somebody else,
// and so is another account of the namespace.
type identity string

// is reports whether the user is the controller. Under impersonation admission
// sees the impersonated user alone, so whoever may impersonate the controller
// counts as it.
func (i identity) is(user authenticationv1.UserInfo) bool {
	return i != "" && user.Username == string(i)
}
