package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/world"
)

// granted is all that the controller may do beyond what every account may, as
// verbs by resource.group/name. Whoever changes it changes what a stolen token
// is worth, and says why in manifests/rbac.
var granted = map[string]string{
	"etcds.quorate.dev":                   "get list patch update watch",
	"talosclusters.quorate.dev":           "get list patch update watch",
	"talosmachines.quorate.dev":           "get list patch update watch",
	"talosetcdbackups.quorate.dev":        "get list patch update watch",
	"talosoperations.quorate.dev":         "create get list patch update watch",
	"etcds/status.quorate.dev":            "get patch update",
	"talosclusters/status.quorate.dev":    "get patch update",
	"talosmachines/status.quorate.dev":    "get patch update",
	"talosetcdbackups/status.quorate.dev": "get patch update",
	"talosoperations/status.quorate.dev":  "get patch update",
	"etcds/scale.quorate.dev":             "get patch update",

	"subjectaccessreviews.authorization.k8s.io": "create",

	"statefulsets.apps":            "create delete get list patch watch",
	"services.":                    "create get list patch watch",
	"configmaps.":                  "create get list patch watch",
	"serviceaccounts.":             "create get list patch watch",
	"poddisruptionbudgets.policy":  "create get list patch watch",
	"pods.":                        "delete get list watch",
	"persistentvolumeclaims.":      "delete get list watch",
	"secrets.":                     "get",
	"etcds/finalizers.quorate.dev": "update",
	"events.events.k8s.io":         "create list patch",

	"nodes.":                           "get list patch",
	"pods/eviction.":                   "create",
	"daemonsets.apps":                  "get",
	"volumeattachments.storage.k8s.io": "list",
	"leases.coordination.k8s.io":       "create get update",

	"validatingwebhookconfigurations.admissionregistration.k8s.io/quorate-gate":   "get patch",
	"customresourcedefinitions.apiextensions.k8s.io/etcds.quorate.dev":            "get",
	"customresourcedefinitions.apiextensions.k8s.io/talosclusters.quorate.dev":    "get",
	"customresourcedefinitions.apiextensions.k8s.io/talosmachines.quorate.dev":    "get",
	"customresourcedefinitions.apiextensions.k8s.io/talosetcdbackups.quorate.dev": "get",
	"customresourcedefinitions.apiextensions.k8s.io/talosoperations.quorate.dev":  "get",
}

// grantedAtHome is what it may do besides in its own namespace.
var grantedAtHome = map[string]string{
	"secrets.":                    "create get",
	"secrets./quorate-webhook-ca": "get update",
	"events.":                     "create patch",
	"leases.coordination.k8s.io/quorate-controllers": "get update",
}

// TestLeastPrivilege lists the rights that the API server computes, exactly.
func TestLeastPrivilege(t *testing.T) {
	ordinary, err := shared.ServiceAccount(t.Context(), "default", "default")
	must(t, err)
	home := maps.Clone(granted)
	maps.Copy(home, grantedAtHome)
	for ns, want := range map[string]map[string]string{"default": granted, "kube-system": granted, world.Namespace: home} {
		got := rights(t, as(t, world.Controller), ns)
		for what, verbs := range rights(t, clientOf(t, ordinary.Config), ns) {
			if got[what] == verbs {
				delete(got, what)
			}
		}
		for _, what := range slices.Sorted(maps.Keys(got)) {
			if got[what] != want[what] {
				t.Errorf("in %s: may %q on %s, expected %q", ns, got[what], what, want[what])
			}
		}
		for what := range want {
			if got[what] == "" {
				t.Errorf("in %s: may not %q on %s", ns, want[what], what)
			}
		}
	}
}

func rights(t *testing.T, c client.Client, ns string) map[string]string {
	t.Helper()
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: ns}}
	must(t, c.Create(t.Context(), review))
	if review.Status.Incomplete {
		t.Fatalf("not all rights are known: %s", review.Status.EvaluationError)
	}
	verbs := map[string][]string{}
	for _, rule := range review.Status.ResourceRules {
		for _, what := range things(rule) {
			verbs[what] = append(verbs[what], rule.Verbs...)
		}
	}
	joined := map[string]string{}
	for what, all := range verbs {
		slices.Sort(all)
		joined[what] = strings.Join(slices.Compact(all), " ")
	}
	return joined
}

// things are the rule's resources, as resource.group or resource.group/name.
func things(rule authorizationv1.ResourceRule) []string {
	var all []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			thing := resource + "." + group
			if len(rule.ResourceNames) == 0 {
				all = append(all, thing)
			}
			for _, name := range rule.ResourceNames {
				all = append(all, thing+"/"+name)
			}
		}
	}
	return all
}

// TestControllerCannot asks for what a stolen token would be used for.
func TestControllerCannot(t *testing.T) {
	for _, question := range []string{
		"list secrets -n default", "list secrets -n quorate-system", "create pods -n quorate-system", "create pods --subresource=exec -n default",
		"delete services -n default", "create roles -n default", "delete leases/other -n quorate-system", "delete nodes", "update nodes --subresource=status", "delete pods --subresource=eviction -n default", "patch leases/other -n kube-system", "impersonate users", "impersonate serviceaccounts -n default", "create serviceaccounts --subresource=token -n quorate-system",
		"delete validatingwebhookconfigurations/quorate-gate", "create validatingwebhookconfigurations", "patch validatingwebhookconfigurations/another",
		"update customresourcedefinitions/etcds.quorate.dev", "delete validatingadmissionpolicies/quorate-etcds", "escalate clusterroles", "bind clusterroles",
		"override talosclusters.quorate.dev -n default", "delete etcds -n default", "delete talosmachines -n default", "create etcds -n default",
	} {
		args := append([]string{"auth", "can-i"}, strings.Fields(question)...)
		access, err := shared.Access(world.Controller)
		must(t, err)
		result, err := shared.KubectlInput(t.Context(), access.Kubeconfig, "", args...)
		must(t, err)
		if answer := strings.TrimSpace(result.Stdout); answer != "no" || result.Code != 1 {
			t.Errorf("may it %s? %s (exit code %d) %s", question, answer, result.Code, result.Stderr)
		}
	}
}

// TestKustomizeBase: the API server takes the whole installation as it is
// shipped, with the Deployment that the world has processes for.
func TestKustomizeBase(t *testing.T) {
	result, err := shared.Kubectl(t.Context(), world.Admin, "", "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", filepath.Join(shared.Root, "manifests", "default"))
	must(t, err)
	if result.Code != 0 {
		t.Errorf("exit code %d: %s", result.Code, result.Stderr)
	}
	for _, what := range []string{"deployment.apps/quorate-manager", "poddisruptionbudget.policy/quorate-manager", "validatingwebhookconfiguration.admissionregistration.k8s.io/quorate-gate"} {
		if !strings.Contains(result.Stdout, what+" serverside-applied (server dry run)") {
			t.Errorf("%s is not in the answer:\n%s", what, result.Stdout)
		}
	}
}

// TestOverrideScope: the verb counts where it was given, for the cluster that it
// was given for, and for nobody else.
//
// covers: C-6
func TestOverrideScope(t *testing.T) {
	here, elsewhere := namespace(t), namespace(t)
	must(t, shared.AddActor(t.Context(), "carol", "carol@example.com", "quorate-editor"))
	kubectl(t, world.Admin, here, "", "create", "role", "may-restore", "--verb=override", "--resource=talosclusters.quorate.dev", "--resource-name=plant")
	kubectl(t, world.Admin, here, "", "create", "rolebinding", "may-restore", "--role=may-restore", "--user=carol@example.com")
	for _, ns := range []string{here, elsewhere} {
		for _, cluster := range []string{"plant", "other"} {
			backup := newBackup(ns)
			backup.Name, backup.Spec.ClusterRef.Name = cluster+"-nightly", cluster
			must(t, as(t, world.Alice).Create(t.Context(), backup))
			for actor, rules := range map[string][]string{
				"carol": refusedUnless(ns == here && cluster == "plant"), world.Alice: refusedUnless(false), world.Controller: nil,
			} {
				t.Run(fmt.Sprintf("%s restores %s here=%t", actor, cluster, ns == here), func(t *testing.T) {
					operation := restoreOperation(ns, "rewind-"+cluster+"-"+actor, cluster+"-nightly")
					operation.Spec.ClusterRef.Name, operation.Spec.EtcdRestore.Confirm = cluster, cluster
					eventuallyRefusedBy(t, actor, operation, rules)
				})
			}
		}
	}
}

func refusedUnless(may bool) []string {
	if may {
		return nil
	}
	return []string{"restore-needs-override"}
}
