package doctor

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Power is a way to act as the controller, whom the webhook leaves out.
type Power struct {
	// What completes the sentence "alice may …".
	What string
	// Direct powers suffice by themselves; the others make somebody of it who has
	// a direct one.
	Direct bool
	// clusterWide is out of reach of a RoleBinding.
	clusterWide bool
	// by lists what RBAC can grant it with; one verb on one resource suffices.
	by []rbacv1.PolicyRule
}

// grantedBy reports whether one RBAC rule gives the power.
func (p Power) grantedBy(r rbacv1.PolicyRule) bool {
	for _, way := range p.by {
		for _, single := range validation.BreakdownRule(way) {
			if ok, _ := validation.Covers([]rbacv1.PolicyRule{r}, []rbacv1.PolicyRule{single}); ok {
				return true
			}
		}
	}
	return false
}

func allow(group string, resources, verbs []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs, ResourceNames: names}
}

// powers are the ways that Kubernetes 1.34 to 1.37 knows. A user name of a
// ServiceAccount is impersonated as that ServiceAccount, never as a user.
func powers(n Names) []Power {
	return append(directPowers(n), indirectPowers()...)
}

func directPowers(n Names) []Power {
	change := []string{"create", "update", "patch"}
	return []Power{
		{What: "impersonate it", Direct: true, by: []rbacv1.PolicyRule{
			allow("", []string{"serviceaccounts"}, []string{"impersonate"}, n.ServiceAccount),
			allow("authentication.k8s.io", []string{"serviceaccounts"}, []string{"impersonate:serviceaccount"}, n.ServiceAccount)}},
		{What: "create tokens for it", Direct: true, by: []rbacv1.PolicyRule{
			allow("", []string{"serviceaccounts/token"}, []string{"create"}, n.ServiceAccount)}},
		{What: "create token Secrets for it", Direct: true, by: []rbacv1.PolicyRule{
			allow("", []string{"secrets"}, []string{"create"})}},
		{What: "run pods as it", Direct: true, by: []rbacv1.PolicyRule{
			allow("", []string{"pods"}, []string{"create"}),
			allow("", []string{"replicationcontrollers"}, change),
			allow("apps", []string{"deployments", "statefulsets", "daemonsets", "replicasets"}, change),
			allow("apps", []string{"deployments"}, change, n.Deployment),
			allow("batch", []string{"jobs", "cronjobs"}, change)}},
		{What: "enter its pods", Direct: true, by: []rbacv1.PolicyRule{
			allow("", []string{"pods/exec", "pods/attach"}, []string{"create", "get"}),
			allow("", []string{"pods/ephemeralcontainers"}, []string{"update", "patch"})}},
	}
}

func indirectPowers() []Power {
	return []Power{
		{What: "impersonate users or groups who may", clusterWide: true, by: []rbacv1.PolicyRule{
			allow("", []string{"users", "groups"}, []string{"impersonate"}),
			allow("", []string{"groups"}, []string{"impersonate"}, "system:masters"),
			allow("authentication.k8s.io", []string{"users", "groups"}, []string{"impersonate:user-info"})}},
		{What: "give itself any cluster role", clusterWide: true, by: []rbacv1.PolicyRule{
			allow("rbac.authorization.k8s.io", []string{"clusterroles"}, []string{"escalate", "bind"}),
			allow("rbac.authorization.k8s.io", []string{"clusterroles"}, []string{"escalate", "bind"}, "cluster-admin")}},
		{What: "give itself any role there", by: []rbacv1.PolicyRule{
			allow("rbac.authorization.k8s.io", []string{"roles"}, []string{"escalate", "bind"})}},
		{What: "approve client certificates in its name", clusterWide: true, by: []rbacv1.PolicyRule{
			allow("certificates.k8s.io", []string{"signers"}, []string{"approve"}, "kubernetes.io/kube-apiserver-client")}},
		{What: "enter its pods through the kubelet", clusterWide: true, by: []rbacv1.PolicyRule{
			allow("", []string{"nodes/proxy"}, []string{"create", "get"})}},
		{What: "read the key of the webhook's certificate authority", by: []rbacv1.PolicyRule{
			allow("", []string{"secrets"}, []string{"get", "list", "watch"})}},
	}
}
