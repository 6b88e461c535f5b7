package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
)

// TestFailClosed stops the manager. The order of its parts matters: the last one
// deletes the webhook configuration.
func TestFailClosed(t *testing.T) {
	ns := namespace(t)
	e := etcd(ns, "main", 3)
	must(t, as(t, world.Alice).Create(t.Context(), e))
	doomed := doomedNamespace(t)
	must(t, shared.StopManagers(t.Context()))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		must(t, shared.StartManagers(ctx))
		must(t, shared.Enforce(ctx, world.AllLayers...))
	})
	t.Run("a user is refused", func(t *testing.T) { testUserRefused(t, e) })
	t.Run("the controller goes on", func(t *testing.T) { testControllerGoesOn(t, e) })
	t.Run("nothing else is held up", func(t *testing.T) { testOthersUntouched(t, ns) })
	t.Run("a namespace can go", func(t *testing.T) { testNamespaceGoes(t, doomed) })
	t.Run("the way out", func(t *testing.T) { testWayOut(t, e) })
}

func testUserRefused(t *testing.T, e *v1alpha1.Etcd) {
	alice := as(t, world.Alice)
	changed := e.DeepCopy()
	resize(5)(changed)
	for what, err := range map[string]error{
		"create":       alice.Create(t.Context(), etcd(e.Namespace, "new", 3)),
		"update":       alice.Update(t.Context(), changed.DeepCopy()),
		"status":       as(t, world.Admin).Status().Update(t.Context(), e.DeepCopy()),
		"scale":        alice.SubResource("scale").Update(t.Context(), e.DeepCopy(), client.WithSubResourceBody(scaleTo(e, 5))),
		"dry run":      alice.Update(t.Context(), changed.DeepCopy(), client.DryRunAll),
		"as an admin":  as(t, world.Admin).Update(t.Context(), changed.DeepCopy()),
		"a new backup": alice.Create(t.Context(), newBackup(e.Namespace)),
	} {
		if err == nil || !strings.Contains(err.Error(), `failed calling webhook`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func scaleTo(e *v1alpha1.Etcd, replicas int32) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
}

func newBackup(ns string) *v1alpha1.TalosEtcdBackup {
	return &v1alpha1.TalosEtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "nightly"},
		Spec: v1alpha1.TalosEtcdBackupSpec{
			ClusterRef: v1alpha1.LocalRef{Name: "plant"}, Schedule: "@daily",
			ObjectStore: v1alpha1.ObjectStore{Bucket: "example", CredentialsRef: v1alpha1.LocalRef{Name: "store"}},
		},
	}
}

func testControllerGoesOn(t *testing.T, e *v1alpha1.Etcd) {
	controller := as(t, world.Controller)
	must(t, controller.Get(t.Context(), key(e), e))
	e.Annotations = map[string]string{"example.com/seen": "yes"}
	must(t, controller.Update(t.Context(), e))
	e.Status.Replicas = 3
	must(t, controller.Status().Update(t.Context(), e))
	must(t, controller.SubResource("scale").Update(t.Context(), e, client.WithSubResourceBody(scaleTo(e, 5))))
}

// testOthersUntouched creates, changes and deletes what a cluster lives on.
func testOthersUntouched(t *testing.T, ns string) {
	meta := metav1.ObjectMeta{Namespace: ns, Name: "ordinary"}
	holder := "somebody"
	for _, object := range []client.Object{
		&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/c"}}}},
		&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"a": "b"}},
		&coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ordinary"}},
	} {
		admin := as(t, world.Admin)
		must(t, admin.Create(t.Context(), object))
		changed := object.DeepCopyObject().(client.Object)
		changed.SetLabels(map[string]string{"example.com/changed": "yes"})
		must(t, admin.Patch(t.Context(), changed, client.MergeFrom(object)))
		must(t, admin.Delete(t.Context(), changed))
	}
}

// doomedNamespace has one object of each kind that has no DELETE rule.
func doomedNamespace(t *testing.T) string {
	ns := namespace(t)
	alice := as(t, world.Alice)
	must(t, alice.Create(t.Context(), etcd(ns, "main", 3)))
	must(t, alice.Create(t.Context(), newBackup(ns)))
	must(t, alice.Create(t.Context(), &v1alpha1.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plant"},
		Spec:       v1alpha1.TalosClusterSpec{Endpoint: "https://k8s.example.com:6443", ControlPlane: v1alpha1.ControlPlaneSpec{Count: 3}, SecretsBundleRef: v1alpha1.LocalRef{Name: "bundle"}},
	}))
	must(t, as(t, world.Admin).Create(t.Context(), restoreOperation(ns, "rewind", "nightly")))
	return ns
}

func testNamespaceGoes(t *testing.T, ns string) {
	admin := as(t, world.Admin)
	found := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	must(t, admin.Delete(t.Context(), found))
	until(t, "the end of namespace "+ns, func(ctx context.Context) error {
		err := admin.Get(ctx, key(found), found)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %v %+v", err, found.Status.Conditions)
	})
}

func testWayOut(t *testing.T, e *v1alpha1.Etcd) {
	kubectl(t, world.Admin, e.Namespace, "", "delete", "validatingwebhookconfiguration", world.ConfigurationName)
	alice := as(t, world.Alice)
	until(t, "a user's change after the configuration is gone", func(ctx context.Context) error {
		must(t, alice.Get(ctx, key(e), e))
		e.Labels = map[string]string{"example.com/way": "out"}
		return alice.Update(ctx, e)
	})
}
