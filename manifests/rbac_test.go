package manifests_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// rules lists every granted rule by its role's name.
func rules(t *testing.T) map[string][]rbacv1.PolicyRule {
	t.Helper()
	out := map[string][]rbacv1.PolicyRule{}
	for _, r := range all[*rbacv1.ClusterRole](t) {
		out[r.Name] = append(out[r.Name], r.Rules...)
	}
	for _, r := range all[*rbacv1.Role](t) {
		out[r.Namespace+"/"+r.Name] = append(out[r.Namespace+"/"+r.Name], r.Rules...)
	}
	return out
}

// bound lists the rules that the controller has.
func bound(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	granted, all := rules(t), []rbacv1.PolicyRule{}
	for _, b := range allBindings(t) {
		found, ok := granted[b.role]
		if !ok {
			t.Errorf("a binding grants %s, which is not installed", b.role)
		}
		all = append(all, found...)
	}
	return all
}

type binding struct{ role, user string }

func allBindings(t *testing.T) []binding {
	t.Helper()
	var out []binding
	add := func(role string, subjects []rbacv1.Subject) {
		for _, s := range subjects {
			out = append(out, binding{role, s.Kind + " " + s.Namespace + "/" + s.Name})
		}
	}
	for _, b := range all[*rbacv1.ClusterRoleBinding](t) {
		add(b.RoleRef.Name, b.Subjects)
	}
	for _, b := range all[*rbacv1.RoleBinding](t) {
		add(b.Namespace+"/"+b.RoleRef.Name, b.Subjects)
	}
	return out
}

func TestOnlyTheControllerIsBound(t *testing.T) {
	account := only[*corev1.ServiceAccount](t)
	want := "ServiceAccount " + account.Namespace + "/" + account.Name
	for _, b := range allBindings(t) {
		if b.user != want {
			t.Errorf("%s is bound to %s, want %s alone", b.role, b.user, want)
		}
	}
}

func TestNoRoleHasAWildcard(t *testing.T) {
	for role, granted := range rules(t) {
		for _, r := range granted {
			words := slices.Concat(r.APIGroups, r.Resources, r.Verbs, r.ResourceNames, r.NonResourceURLs)
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "*") }) {
				t.Errorf("%s has a wildcard: %+v", role, r)
			}
		}
	}
}

// The controller never gets a right by which it, or who takes it over, gets more.
func TestTheControllerCannotRise(t *testing.T) {
	for _, r := range bound(t) {
		for _, verb := range []string{"escalate", "bind", "impersonate", "override", "deletecollection"} {
			if slices.Contains(r.Verbs, verb) {
				t.Errorf("the controller may %s %v", verb, r.Resources)
			}
		}
		for _, never := range []string{"pods/exec", "nodes/proxy", "nodes/status", "serviceaccounts/token", "roles", "clusterroles"} {
			if slices.Contains(r.Resources, never) {
				t.Errorf("the controller may %v %s, which nothing needs yet", r.Verbs, never)
			}
		}
	}
}

// Every right over an object that is not ours is for objects by name, but for what
// an Etcd or a Talos cluster is made of: people choose those names. Creation and events cannot be narrowed.
func TestForeignObjectsAreNamed(t *testing.T) {
	for role, granted := range rules(t) {
		if role == "quorate-etcd" || role == "quorate-talos" || !strings.HasPrefix(role, "quorate-controller") && !strings.Contains(role, "/") {
			continue
		}
		for _, r := range granted {
			if slices.Equal(r.APIGroups, []string{"quorate.dev"}) || slices.Equal(r.Verbs, []string{"create"}) || slices.Equal(r.Resources, []string{"events"}) {
				continue
			}
			if len(r.ResourceNames) == 0 {
				t.Errorf("%s may %v any of %v", role, r.Verbs, r.Resources)
			}
		}
	}
}

// What an Etcd is made of, and no more: nothing is updated without an apply, Secrets
// are read one by one, and only what must go can be deleted.
func TestRightsOverMembers(t *testing.T) {
	want := map[string]string{
		"statefulsets": "get list watch create patch delete", "services": "get list watch create patch", "configmaps": "get list watch create patch",
		"serviceaccounts": "get list watch create patch", "poddisruptionbudgets": "get list watch create patch", "pods": "get list watch delete",
		"persistentvolumeclaims": "get list watch delete", "secrets": "get", "etcds/finalizers": "update", "events": "list create patch",
	}
	got := map[string]string{}
	for _, r := range rules(t)["quorate-etcd"] {
		for _, resource := range r.Resources {
			got[resource] = strings.Join(r.Verbs, " ")
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What the removal of a Talos machine takes, and no more: Nodes are cordoned and never
// deleted, pods evicted and not deleted, so that PodDisruptionBudgets hold.
func TestRightsOverTalosMachines(t *testing.T) {
	want := map[string]string{
		"secrets": "get", "nodes": "get list patch", "pods": "get list", "pods/eviction": "create", "daemonsets": "get",
		"volumeattachments": "list", "leases": "get create update", "events": "create patch",
	}
	got := map[string]string{}
	for _, r := range rules(t)["quorate-talos"] {
		for _, resource := range r.Resources {
			got[resource] = strings.Join(r.Verbs, " ")
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSecretsAreNotListed(t *testing.T) {
	for role, granted := range rules(t) {
		for _, r := range granted {
			if slices.Contains(r.Resources, "secrets") && (slices.Contains(r.Verbs, "list") || slices.Contains(r.Verbs, "watch")) {
				t.Errorf("%s may %v secrets", role, r.Verbs)
			}
		}
	}
}

// People get their own objects and nothing that is the controller's: no status,
// and the override by a role that joins no other.
func TestRolesForPeople(t *testing.T) {
	for _, role := range all[*rbacv1.ClusterRole](t) {
		if role.Name == "quorate-controller" {
			continue
		}
		for _, r := range role.Rules {
			if slices.ContainsFunc(r.Resources, func(s string) bool { return strings.HasSuffix(s, "/status") }) {
				t.Errorf("%s has %v on %v: status is the controller's", role.Name, r.Verbs, r.Resources)
			}
			if slices.Contains(r.Verbs, "override") && (role.Name != "quorate-override" || aggregated(role)) {
				t.Errorf("%s has override; want quorate-override alone, which joins no other role", role.Name)
			}
		}
	}
}

func aggregated(r *rbacv1.ClusterRole) bool {
	for label := range r.Labels {
		if strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-") {
			return true
		}
	}
	return false
}
