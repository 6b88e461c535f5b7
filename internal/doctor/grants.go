package doctor

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
)

// RBAC is what decides who may do what. Roles and RoleBindings are those of the
// controller's namespace.
type RBAC struct {
	ClusterRoles        []rbacv1.ClusterRole
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
	Roles               []rbacv1.Role
	RoleBindings        []rbacv1.RoleBinding
}

// Grant is a power that a subject has, and where from.
type Grant struct {
	Subject rbacv1.Subject
	Power   Power
	// Path is binding, role and rule, e.g.
	// "ClusterRoleBinding ops → ClusterRole impersonator, rule 2".
	Path string
	// BuiltIn is a binding that Kubernetes itself brings.
	BuiltIn bool
}

// WhoMay lists who can act as the controller, by RBAC. The controller itself is
// left out. Other authorizers, and admission that restricts pods, are not seen.
func WhoMay(r RBAC, n Names) []Grant {
	var all []Grant
	for _, b := range r.bindings() {
		if b.namespace != "" && b.namespace != n.Namespace {
			continue
		}
		for i, rule := range r.rules(b.role, b.namespace) {
			for _, p := range powers(n) {
				if p.clusterWide && b.namespace != "" || !p.grantedBy(rule) {
					continue
				}
				all = append(all, b.grants(p, i+1, n)...)
			}
		}
	}
	return all
}

// bound is a binding of either kind; the namespace is empty for a cluster-wide one.
type bound struct {
	binding, namespace string
	role               rbacv1.RoleRef
	subjects           []rbacv1.Subject
	builtIn            bool
}

// bootstrapping marks what an API server creates for itself.
const bootstrapping = "kubernetes.io/bootstrapping"

func (r RBAC) bindings() []bound {
	var all []bound
	for _, b := range r.ClusterRoleBindings {
		all = append(all, bound{"ClusterRoleBinding " + b.Name, "", b.RoleRef, b.Subjects, b.Labels[bootstrapping] == "rbac-defaults"})
	}
	for _, b := range r.RoleBindings {
		all = append(all, bound{"RoleBinding " + b.Namespace + "/" + b.Name, b.Namespace, b.RoleRef, b.Subjects, b.Labels[bootstrapping] == "rbac-defaults"})
	}
	return all
}

// rules of a role; a role that does not exist grants nothing.
func (r RBAC) rules(ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	if ref.Kind == "Role" {
		for _, role := range r.Roles {
			if role.Name == ref.Name && role.Namespace == namespace {
				return role.Rules
			}
		}
		return nil
	}
	for _, role := range r.ClusterRoles {
		if role.Name == ref.Name {
			return role.Rules
		}
	}
	return nil
}

func (b bound) grants(p Power, rule int, n Names) []Grant {
	var all []Grant
	for _, s := range b.subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == "" {
			s.Namespace = b.namespace
		}
		if isController(s, n) {
			continue
		}
		all = append(all, Grant{Subject: s, Power: p, BuiltIn: b.builtIn,
			Path: fmt.Sprintf("%s → %s %s, rule %d", b.binding, b.role.Kind, b.role.Name, rule)})
	}
	return all
}

func isController(s rbacv1.Subject, n Names) bool {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return s.Namespace == n.Namespace && s.Name == n.ServiceAccount
	case rbacv1.UserKind:
		return s.Name == n.Controller()
	}
	return false
}
