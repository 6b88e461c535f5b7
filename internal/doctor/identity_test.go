package doctor

import (
	"reflect"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rbacOf reads roles and bindings from one document.
func rbacOf(t *testing.T, text string) RBAC {
	t.Helper()
	var r RBAC
	if err := yaml.UnmarshalStrict([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// grant makes one binding of a role with one rule to one subject.
func grant(kind, name, rule string) string {
	subject := `{kind: ` + kind + `, name: ` + name + `}`
	if kind == "ServiceAccount" {
		subject = `{kind: ServiceAccount, name: ` + name + `, namespace: ci}`
	}
	return `
ClusterRoles: [{metadata: {name: r}, rules: [` + rule + `]}]
ClusterRoleBindings: [{metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [` + subject + `]}]`
}

// here is grant within a namespace.
func here(namespace, rule string) string {
	return `
Roles: [{metadata: {name: r, namespace: ` + namespace + `}, rules: [` + rule + `]}]
RoleBindings: [{metadata: {name: b, namespace: ` + namespace + `}, roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: alice}]}]`
}

func TestWhoMay(t *testing.T) {
	const cluster = "ClusterRoleBinding b → ClusterRole r, rule 1"
	const local = "RoleBinding quorate-system/b → Role r, rule 1"
	for _, tc := range []struct {
		name string
		rbac string
		want []string // WHAT (PATH)
	}{
		{"nobody", grant("User", "alice", `{apiGroups: [quorate.dev], resources: ["*"], verbs: ["*"]}`), nil},
		{"impersonate the ServiceAccount", grant("User", "alice", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}`),
			[]string{"impersonate it (" + cluster + ")"}},
		{"impersonate it by name", grant("User", "alice", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [x, quorate-controller]}`),
			[]string{"impersonate it (" + cluster + ")"}},
		{"impersonate another by name", grant("User", "alice", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [quorate-controller-2]}`), nil},
		{"impersonate it, constrained", grant("User", "alice", `{apiGroups: [authentication.k8s.io], resources: [serviceaccounts], verbs: ["impersonate:serviceaccount"]}`),
			[]string{"impersonate it (" + cluster + ")"}},
		{"another API group", grant("User", "alice", `{apiGroups: [apps], resources: [serviceaccounts], verbs: [impersonate]}`), nil},
		{"impersonate users", grant("User", "alice", `{apiGroups: [""], resources: [users], verbs: [impersonate]}`),
			[]string{"impersonate users or groups who may (" + cluster + ")"}},
		{"impersonate one harmless user", grant("User", "alice", `{apiGroups: [""], resources: [users], verbs: [impersonate], resourceNames: [bob]}`), nil},
		{"impersonate the masters", grant("User", "alice", `{apiGroups: [""], resources: [groups], verbs: [impersonate], resourceNames: ["system:masters"]}`),
			[]string{"impersonate users or groups who may (" + cluster + ")"}},
		{"tokens", grant("ServiceAccount", "bot", `{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}`),
			[]string{"create tokens for it (" + cluster + ")"}},
		{"tokens by a wildcard of subresources", grant("User", "alice", `{apiGroups: [""], resources: ["*/token"], verbs: ["*"]}`),
			[]string{"create tokens for it (" + cluster + ")"}},
		{"tokens, read only", grant("User", "alice", `{apiGroups: [""], resources: [serviceaccounts/token], verbs: [get]}`), nil},
		{"pods", here("quorate-system", `{apiGroups: [""], resources: [pods], verbs: [create]}`), []string{"run pods as it (" + local + ")"}},
		{"pods elsewhere", here("data", `{apiGroups: [""], resources: [pods], verbs: [create]}`), nil},
		{"its Deployment", here("quorate-system", `{apiGroups: [apps], resources: [deployments], verbs: [patch], resourceNames: [quorate-manager]}`),
			[]string{"run pods as it (" + local + ")"}},
		{"another Deployment", here("quorate-system", `{apiGroups: [apps], resources: [deployments], verbs: [patch], resourceNames: [web]}`), nil},
		{"jobs", here("quorate-system", `{apiGroups: [batch], resources: [cronjobs], verbs: [update]}`), []string{"run pods as it (" + local + ")"}},
		{"exec", here("quorate-system", `{apiGroups: [""], resources: [pods/exec], verbs: [create]}`), []string{"enter its pods (" + local + ")"}},
		{"secrets", here("quorate-system", `{apiGroups: [""], resources: [secrets], verbs: [create, get]}`),
			[]string{"create token Secrets for it (" + local + ")", "read the key of the webhook's certificate authority (" + local + ")"}},
		{"one other secret", here("quorate-system", `{apiGroups: [""], resources: [secrets], verbs: [get], resourceNames: [x]}`), nil},
		{"escalation", grant("User", "alice", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}`),
			[]string{"give itself any cluster role (" + cluster + ")"}},
		{"binding a harmless role", grant("User", "alice", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [view]}`), nil},
		{"escalation here", here("quorate-system", `{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}`),
			[]string{"give itself any role there (" + local + ")"}},
		{"certificates", grant("User", "alice", `{apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve], resourceNames: [kubernetes.io/kube-apiserver-client]}`),
			[]string{"approve client certificates in its name (" + cluster + ")"}},
		{"kubelet", grant("User", "alice", `{apiGroups: [""], resources: [nodes/proxy], verbs: [get]}`),
			[]string{"enter its pods through the kubelet (" + cluster + ")"}},
		{"what only a ClusterRoleBinding reaches", here("quorate-system", `{apiGroups: [""], resources: [users, nodes/proxy], verbs: ["*"]}`), nil},
		{"a ClusterRole bound in the namespace", `
ClusterRoles: [{metadata: {name: edit}, rules: [{apiGroups: [x], resources: [x], verbs: [x]}, {apiGroups: [""], resources: [pods], verbs: ["*"]}]}]
RoleBindings: [{metadata: {name: b, namespace: quorate-system}, roleRef: {kind: ClusterRole, name: edit}, subjects: [{kind: ServiceAccount, name: bot}]}]`,
			[]string{"run pods as it (RoleBinding quorate-system/b → ClusterRole edit, rule 2)"}},
		{"a role that is gone", `
ClusterRoleBindings: [{metadata: {name: b}, roleRef: {kind: ClusterRole, name: gone}, subjects: [{kind: User, name: alice}]}]`, nil},
		{"a role of that name elsewhere", `
Roles: [{metadata: {name: r, namespace: data}, rules: [{apiGroups: [""], resources: [pods], verbs: [create]}]}]
RoleBindings: [{metadata: {name: b, namespace: quorate-system}, roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: alice}]}]`, nil},
		{"the controller itself", `
ClusterRoles: [{metadata: {name: r}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}]
ClusterRoleBindings: [{metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [
  {kind: ServiceAccount, name: quorate-controller, namespace: quorate-system},
  {kind: User, name: "system:serviceaccount:quorate-system:quorate-controller"}]}]`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, g := range WhoMay(rbacOf(t, tc.rbac), DefaultNames()) {
				got = append(got, g.Power.What+" ("+g.Path+")")
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestJudgeIdentity(t *testing.T) {
	const take = "Whoever acts as the controller goes past the webhook and the policies. If that is not meant, take it out of the binding."
	const everything = `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`
	builtIn := `
ClusterRoles: [{metadata: {name: cluster-admin}, rules: [` + everything + `]}, {metadata: {name: kcm}, rules: [{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}]}]
ClusterRoleBindings:
- {metadata: {name: cluster-admin, labels: {kubernetes.io/bootstrapping: rbac-defaults}}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: Group, name: "system:masters"}, {kind: Group, name: ops}]}
- {metadata: {name: kcm, labels: {kubernetes.io/bootstrapping: rbac-defaults}}, roleRef: {kind: ClusterRole, name: kcm}, subjects: [{kind: User, name: "system:kube-controller-manager"}, {kind: ServiceAccount, name: job-controller, namespace: kube-system}]}
`
	for _, tc := range []struct {
		name string
		rbac string
		want []Finding
	}{
		{"Kubernetes' own alone", `
ClusterRoles: [{metadata: {name: cluster-admin}, rules: [` + everything + `]}]
ClusterRoleBindings: [{metadata: {name: cluster-admin, labels: {kubernetes.io/bootstrapping: rbac-defaults}}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: Group, name: "system:masters"}]}]`,
			[]Finding{{State: OK, Seen: "by RBAC nobody but 1 of Kubernetes' own may act as system:serviceaccount:quorate-system:quorate-controller"}}},
		{"a group added to Kubernetes' own binding", builtIn,
			[]Finding{{Warning, "Group ops may do anything (ClusterRoleBinding cluster-admin → ClusterRole cluster-admin, rule 1)", take}}},
		{"a system group in a binding of one's own", grant("Group", "system:masters", everything),
			[]Finding{{Warning, "Group system:masters may do anything (ClusterRoleBinding b → ClusterRole r, rule 1)", take}}},
		{"two powers, the direct one first", grant("ServiceAccount", "bot", `{apiGroups: [""], resources: [secrets, nodes/proxy, serviceaccounts/token], verbs: [get, create]}`),
			[]Finding{{Warning, "ServiceAccount ci/bot may create tokens for it (ClusterRoleBinding b → ClusterRole r, rule 1); " +
				"create token Secrets for it (ClusterRoleBinding b → ClusterRole r, rule 1); " +
				"enter its pods through the kubelet (ClusterRoleBinding b → ClusterRole r, rule 1); " +
				"read the key of the webhook's certificate authority (ClusterRoleBinding b → ClusterRole r, rule 1)", take}}},
		{"everybody, first", `
ClusterRoles: [{metadata: {name: r}, rules: [{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}]}]
ClusterRoleBindings: [{metadata: {name: b, labels: {kubernetes.io/bootstrapping: rbac-defaults}}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: User, name: alice}, {kind: Group, name: "system:authenticated"}]}]`,
			[]Finding{{Failed, "Group system:authenticated may impersonate it (ClusterRoleBinding b → ClusterRole r, rule 1)", take},
				{Warning, "User alice may impersonate it (ClusterRoleBinding b → ClusterRole r, rule 1)", take}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := JudgeIdentity(rbacOf(t, tc.rbac), DefaultNames()); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// A power that no rule can grant would be listed for nobody, whoever has it.
func TestEveryPowerCanBeGranted(t *testing.T) {
	everything := rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	for _, p := range powers(DefaultNames()) {
		if !p.grantedBy(everything) {
			t.Errorf("%s: not granted by a rule that grants everything", p.What)
		}
		if p.grantedBy(rbacv1.PolicyRule{APIGroups: []string{"quorate.dev"}, Resources: []string{"*"}, Verbs: []string{"*"}}) {
			t.Errorf("%s: granted by a rule about another API group", p.What)
		}
	}
}
