package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
)

var operationNow = time.Date(2030, 1, 2, 15, 30, 0, 0, time.UTC)

// operationWorld is an API server for the commands on operations.
type operationWorld struct {
	t   *testing.T
	api client.WithWatch
	// before is what the command asks through; api where it is nil.
	through client.Client
	stdin   string
	now     func() time.Time
}

func newOperationWorld(t *testing.T, objects ...client.Object) *operationWorld {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &operationWorld{t: t, api: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), now: func() time.Time { return operationNow }}
}

// run executes one command line in the namespace factory.
func (w *operationWorld) run(make func(*operationOptions) *cobra.Command, args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	o := newOperationOptions()
	o.client, o.now = w.api, w.now
	if w.through != nil {
		o.client = w.through
	}
	cmd := make(o)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetIn(strings.NewReader(w.stdin))
	cmd.SetArgs(append([]string{"-n", "factory"}, args...))
	if err := cmd.ExecuteContext(w.t.Context()); err != nil {
		errs.WriteString(err.Error() + "\n")
		code = exitCode(err)
	}
	return code, out.String(), errs.String()
}

// gives compares all that a command line gives.
func (w *operationWorld) gives(make func(*operationOptions) *cobra.Command, code int, stdout, stderr string, args ...string) {
	w.t.Helper()
	gotCode, out, errs := w.run(make, args...)
	if gotCode != code || out != stdout || errs != stderr {
		w.t.Errorf("%q\ngot  %d\n%s\n%s\nwant %d\n%s\n%s", args, gotCode, out, errs, code, stdout, stderr)
	}
}

func objectMeta(name string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "factory", Name: name, CreationTimestamp: metav1.NewTime(operationNow.Add(-age)), Annotations: map[string]string{}}
}

func heldMeta(name string, age time.Duration) metav1.ObjectMeta {
	m := objectMeta(name, age)
	m.Annotations[v1alpha1.AnnotationHeldByRestore] = "7"
	return m
}

// rewind is a restore that recovers etcd.
func rewind() *v1alpha1.TalosOperation {
	op := &v1alpha1.TalosOperation{ObjectMeta: objectMeta("rewind", 5*time.Minute)}
	op.Spec = v1alpha1.TalosOperationSpec{Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: "prod"}, EtcdRestore: &v1alpha1.EtcdRestoreSpec{
		BackupRef: v1alpha1.LocalRef{Name: "nightly"}, Snapshot: "etcd-20300102T140405Z.snapshot.age", Confirm: "prod",
	}}
	op.Status.Phase = v1alpha1.PhaseRunning
	op.Status.EtcdRestore = &v1alpha1.EtcdRestoreStatus{
		Step: v1alpha1.StepRecovering, Target: "cp-1", Message: "etcd starts on cp-1.", SnapshotTime: ptr.To(metav1.NewTime(operationNow.Add(-time.Hour))),
	}
	return op
}

func heldOperation() *v1alpha1.TalosOperation {
	op := rewind()
	op.ObjectMeta, op.Status = heldMeta("older", 26*time.Hour), v1alpha1.TalosOperationStatus{Phase: v1alpha1.PhaseHeld}
	return op
}

func heldMachine() *v1alpha1.TalosMachine {
	m := &v1alpha1.TalosMachine{ObjectMeta: heldMeta("cp-3", 90*24*time.Hour)}
	m.DeletionTimestamp, m.Finalizers = ptr.To(metav1.NewTime(operationNow)), []string{v1alpha1.FinalizerMachine}
	m.Spec = v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"}, Role: v1alpha1.MachineControlPlane}
	m.Status = v1alpha1.TalosMachineStatus{NodeName: "rack4", EtcdMember: &v1alpha1.MachineEtcdMember{ID: "a3"}}
	return m
}

func heldEtcd() *v1alpha1.Etcd {
	e := &v1alpha1.Etcd{ObjectMeta: heldMeta("orders", 3*time.Hour)}
	e.Spec.Replicas = ptr.To[int32](1)
	e.Status.Members = []v1alpha1.EtcdMember{{Name: "orders-2"}, {Name: "orders-0"}, {Name: "orders-1"}}
	return e
}

// held reads an object and tells what holds it.
func (w *operationWorld) annotations(o client.Object, name string) map[string]string {
	w.t.Helper()
	if err := w.api.Get(context.Background(), client.ObjectKey{Namespace: "factory", Name: name}, o); err != nil {
		w.t.Fatal(err)
	}
	return o.GetAnnotations()
}
