package e2e

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

func restoreOperation(ns, name, backup string) *v1alpha1.TalosOperation {
	return &v1alpha1.TalosOperation{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: v1alpha1.TalosOperationSpec{
			Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: "plant"},
			EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: backup}, Snapshot: "etcd-20300102T150405Z.snapshot.age", Confirm: "plant"},
		},
	}
}

// TestGenerateName: the request itself has no name, and the refusal names the one
// that was generated all the same.
func TestGenerateName(t *testing.T) {
	ns := namespace(t)
	made := etcd(ns, "", 3)
	made.GenerateName = "made-"
	must(t, as(t, world.Alice).Create(t.Context(), made))
	if !strings.HasPrefix(made.Name, "made-") || made.Name == "made-" {
		t.Errorf("it is called %q", made.Name)
	}
	operation := restoreOperation(ns, "", "nightly")
	operation.GenerateName = "rewind-"
	err := as(t, world.Admin).Create(t.Context(), operation)
	refusedBy(t, err, []string{"restore-backup-of-cluster"}, "there is no TalosEtcdBackup nightly for cluster plant in namespace "+ns)
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil || !strings.HasPrefix(status.Status().Details.Name, "rewind-") {
		t.Errorf("the refusal does not name rewind-…: %v", err)
	}
}

const applied = `apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: applied}
spec: {replicas: %}
`

// TestServerSideApply: the verdict is over the merged object, whoever owns the
// field, and a field given up is a change too.
func TestServerSideApply(t *testing.T) {
	ns := namespace(t)
	apply := func(manager, replicas string, more ...string) (string, int) {
		r := tryKubectl(t, world.Alice, ns, strings.Replace(applied, "%", replicas, 1), append([]string{"apply", "--server-side", "--field-manager=" + manager, "-f", "-"}, more...)...)
		return r.Stdout + r.Stderr, r.Code
	}
	if text, code := apply("first", "3"); code != 0 {
		t.Fatal(text)
	}
	record(t, ns, "applied", script.Busy(v1alpha1.ScaleIn, 5, 3))
	text, code := apply("first", "5")
	if code == 0 || !strings.Contains(text, "Scaling out from 3 to 5 replicas is refused") {
		t.Errorf("the owner's change: exit code %d: %s", code, text)
	}
	if text, code = apply("second", "5", "--force-conflicts"); code == 0 || !strings.Contains(text, "(scale-out-blocked)") {
		t.Errorf("another's change: exit code %d: %s", code, text)
	}
	if text, code = apply("second", "3"); code != 0 {
		t.Errorf("the same size by another owner: exit code %d: %s", code, text)
	}
}

// record writes a status as the controller.
func record(t *testing.T, ns, name string, s script.State) {
	t.Helper()
	controller := as(t, world.Controller)
	e := &v1alpha1.Etcd{}
	must(t, controller.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, e))
	e.Status = v1alpha1.EtcdStatus(s)
	must(t, controller.Status().Update(t.Context(), e))
}

// TestDryRun: the verdict is the same, and nothing is changed.
func TestDryRun(t *testing.T) {
	ns := namespace(t)
	alice := as(t, world.Alice)
	e := given(t, etcd(ns, "dry", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	worker := &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "worker"},
		Spec:       v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "plant"}, Role: v1alpha1.MachineWorker, Endpoint: "192.0.2.7"},
	}
	must(t, alice.Create(t.Context(), worker))
	out, in := e.DeepCopy(), e.DeepCopy()
	resize(5)(out)
	resize(1)(in)
	refusedBy(t, alice.Update(t.Context(), out, client.DryRunAll), []string{"scale-out-blocked"})
	refusedBy(t, alice.Update(t.Context(), in, client.DryRunAll), nil)
	refusedBy(t, as(t, world.Admin).Create(t.Context(), restoreOperation(ns, "dry", "nightly"), client.DryRunAll), []string{"restore-backup-of-cluster"})
	refusedBy(t, alice.Delete(t.Context(), worker, client.DryRunAll), []string{"machine-delete-wants-annotation"})
	refusedBy(t, alice.Create(t.Context(), etcd(ns, "never", 3), client.DryRunAll), nil)

	for _, object := range []client.Object{e, worker} {
		before := object.GetResourceVersion()
		must(t, alice.Get(t.Context(), key(object), object))
		if object.GetResourceVersion() != before {
			t.Errorf("%s changed", object.GetName())
		}
	}
	if err := alice.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "never"}, &v1alpha1.Etcd{}); !apierrors.IsNotFound(err) {
		t.Errorf("an Etcd was created by a dry run: %v", err)
	}
}
