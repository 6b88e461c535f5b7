package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func checkIdentity(ctx context.Context, c Config) []Finding {
	r, unseen := c.rbac(ctx)
	found := JudgeIdentity(r, c.Names)
	if len(unseen) > 0 { // then that nobody was found says nothing
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.State == OK })
	}
	return append(unseen, found...)
}

// rbac reads what it may; each list that it may not read is a finding.
func (c Config) rbac(ctx context.Context) (RBAC, []Finding) {
	var unseen []Finding
	api, namespace, where := c.Kube.RbacV1(), c.Names.Namespace, " in "+c.Names.Namespace
	return RBAC{
		ClusterRoles:        listed(ctx, c, &unseen, "clusterroles", "", api.ClusterRoles().List).Items,
		ClusterRoleBindings: listed(ctx, c, &unseen, "clusterrolebindings", "", api.ClusterRoleBindings().List).Items,
		Roles:               listed(ctx, c, &unseen, "roles", where, api.Roles(namespace).List).Items,
		RoleBindings:        listed(ctx, c, &unseen, "rolebindings", where, api.RoleBindings(namespace).List).Items,
	}, unseen
}

// listed is an empty list where the real one cannot be read.
func listed[L any](ctx context.Context, c Config, unseen *[]Finding, resource, where string, list func(context.Context, metav1.ListOptions) (*L, error)) *L {
	found, err := read(ctx, c, func(ctx context.Context) (*L, error) { return list(ctx, metav1.ListOptions{}) })
	if err != nil {
		*unseen = append(*unseen, c.unread(resource, "list "+resource+".rbac.authorization.k8s.io"+where, err))
		return new(L)
	}
	return found
}

// everybody are the groups that nobody has to be let into.
var everybody = []string{"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:anonymous"}

// JudgeIdentity lists who can act as the controller, and so goes past the
// webhook: everybody is a failure, somebody a warning, Kubernetes' own are
// counted.
func JudgeIdentity(r RBAC, n Names) []Finding {
	subjects := map[string][]Grant{}
	own := map[string]bool{}
	for _, g := range WhoMay(r, n) {
		name := subjectName(g.Subject)
		if kubernetesOwn(g) {
			own[name] = true
			continue
		}
		subjects[name] = append(subjects[name], g)
	}
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		findings = append(findings, judgeSubject(name, subjects[name], len(powers(n))))
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(severity[b.State], severity[a.State]) })
	if len(findings) == 0 {
		return []Finding{{State: OK, Seen: fmt.Sprintf("by RBAC nobody but %d of Kubernetes' own may act as %s", len(own), n.Controller())}}
	}
	return findings
}

// kubernetesOwn are the control plane and its administrators: who has these has
// the cluster.
func kubernetesOwn(g Grant) bool {
	if !g.BuiltIn || slices.Contains(everybody, g.Subject.Name) {
		return false
	}
	if g.Subject.Kind == rbacv1.ServiceAccountKind {
		return g.Subject.Namespace == metav1.NamespaceSystem
	}
	return strings.HasPrefix(g.Subject.Name, "system:")
}

func subjectName(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return fmt.Sprintf("%s %s/%s", s.Kind, s.Namespace, s.Name)
	}
	return s.Kind + " " + s.Name
}

func judgeSubject(name string, grants []Grant, all int) Finding {
	f := Finding{State: Warning, Seen: fmt.Sprintf("%s may %s", name, describeGrants(grants, all)),
		WayOut: "Whoever acts as the controller goes past the webhook and the policies. If that is not meant, take it out of the binding."}
	if slices.Contains(everybody, grants[0].Subject.Name) {
		f.State = Failed
	}
	return f
}

// describeGrants names each power once, direct ones first, with its first path.
func describeGrants(grants []Grant, all int) string {
	grants = slices.Clone(grants)
	slices.SortStableFunc(grants, func(a, b Grant) int { return order(a.Power) - order(b.Power) })
	var parts []string
	seen := map[string]bool{}
	for _, g := range grants {
		if !seen[g.Power.What] {
			seen[g.Power.What] = true
			parts = append(parts, fmt.Sprintf("%s (%s)", g.Power.What, g.Path))
		}
	}
	if len(parts) == all {
		return fmt.Sprintf("do anything (%s)", grants[0].Path)
	}
	return strings.Join(parts, "; ")
}

func order(p Power) int {
	if p.Direct {
		return 0
	}
	return 1
}
