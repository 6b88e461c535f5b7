package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

const at = `"2030-01-02T15:04:05Z"`

// guarded are changes of the status that would mislead the gate or the guard.
var guarded = map[string]string{
	"operation":      `{"conditions":[{"type":"ScaleOperationInProgress","status":"False","reason":"NoScaleOperation","message":"","lastTransitionTime":` + at + `}]}`,
	"stalled":        `{"conditions":[{"type":"ScaleOperationInProgress","status":"True","reason":"ScalingIn","message":"","lastTransitionTime":` + at + `},{"type":"Stalled","status":"True","reason":"Mine","message":"","lastTransitionTime":` + at + `}]}`,
	"from":           `{"scaleOperation":{"from":1}}`,
	"ledger":         `{"removedMembers":[{"id":"a1","clusterID":"c1","state":"confirmed","at":` + at + `}]}`,
	"cluster ID":     `{"clusterID":"bad"}`,
	"joined members": `{"bootstrapWithExistingClusterMembers":[{"name":"s0","peerURLs":["https://s0.old.example.com:2380"]}]}`,
	"size":           `{"hibernatedReplicas":1}`,
}

// strangers are not the controller, however alike.
var strangers = map[string]string{
	"an administrator":                  "",
	"another account of the namespace":  "system:serviceaccount:quorate-system:quorate-controller-2",
	"the same account elsewhere":        "system:serviceaccount:default:quorate-controller",
	"the name in another case":          "system:serviceaccount:quorate-system:Quorate-controller",
	"a user with a name that begins so": world.ControllerUser + ":x",
}

// impersonate is an administrator's client under another name, with all rights.
func impersonate(t *testing.T, user string) client.Client {
	t.Helper()
	admin, err := shared.Access(world.Admin)
	must(t, err)
	config := rest.CopyConfig(admin.Config)
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	}
	return clientOf(t, config)
}

func TestStatusIsTheControllers(t *testing.T) {
	e := given(t, etcd(namespace(t), "main", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	for who, user := range strangers {
		t.Run(who, func(t *testing.T) {
			stranger := impersonate(t, user)
			for what, status := range guarded {
				err := patchStatus(t, stranger, e, status)
				refusedBy(t, err, []string{"status-is-ours"}, "Change spec instead, and the controller follows")
				if t.Failed() {
					t.Fatalf("it was the %s", what)
				}
			}
			must(t, patchStatus(t, stranger, e, `{"selector":"app=etcd"}`))
		})
	}
	for what, status := range guarded {
		if err := patchStatus(t, as(t, world.Controller), e, status); err != nil {
			t.Errorf("the controller's %s: %v", what, err)
		}
	}
}

func patchStatus(t *testing.T, c client.Client, o client.Object, status string) error {
	t.Helper()
	return c.Status().Patch(t.Context(), o.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)),
		&client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{DryRun: []string{metav1.DryRunAll}}})
}

// TestOtherStatusIsTheControllers: the status of the Talos kinds likewise.
func TestOtherStatusIsTheControllers(t *testing.T) {
	ns := namespace(t)
	admin, controller := impersonate(t, ""), as(t, world.Controller)
	for _, c := range []struct {
		by                  string
		object              client.Object
		rule, forged, plain string
	}{
		{world.Alice, talosCluster(ns, 3), "cluster-status-is-ours", `{"members":[{"id":"a1","name":"cp-1","role":"voter","started":true,"leader":true,"healthy":true}]}`, `{"observedGeneration":1}`},
		{world.Alice, controlPlane(ns, "cp-1", true), "machine-status-is-ours", `{"etcdMember":{"id":"a1"}}`, `{"observedGeneration":1}`},
		{world.Controller, restoreOperation(ns, "rewind", "nightly"), "operation-status-is-ours", `{"phase":"Completed"}`, `{"failureReason":"seen"}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			must(t, as(t, c.by).Create(t.Context(), c.object))
			refusedBy(t, patchStatus(t, admin, c.object, c.forged), []string{c.rule}, "the controller alone records them")
			must(t, patchStatus(t, admin, c.object, c.plain))
			must(t, patchStatus(t, controller, c.object, c.forged))
		})
	}
}

// TestImpersonation writes down what the exemption is worth: admission sees the
// impersonated user alone, so whoever may impersonate the controller is exempt.
func TestImpersonation(t *testing.T) {
	e := given(t, etcd(namespace(t), "main", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	must(t, patchStatus(t, impersonate(t, world.ControllerUser), e, guarded["operation"]))
}

// TestControllerKeepsCRDRules: the rules of the CRD bind the controller too.
func TestControllerKeepsCRDRules(t *testing.T) {
	e := given(t, etcd(namespace(t), "main", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	resize(5)(e)
	refusedBy(t, as(t, world.Controller).Update(t.Context(), e), []string{"scale-out-blocked"}, strings.TrimSpace("from 3 to 5"))
}
