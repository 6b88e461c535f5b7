package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

func everything() []client.Object {
	other := rewind()
	other.Namespace, other.Name, other.Status = "mill", "another", v1alpha1.TalosOperationStatus{}
	free := heldMachine()
	free.Name, free.Annotations = "cp-4", nil
	return []client.Object{rewind(), heldOperation(), heldMachine(), free, heldEtcd(), other}
}

const (
	afterOperation = "the etcd of TalosCluster prod is restored from etcd-20300102T140405Z.snapshot.age of TalosEtcdBackup nightly; everything written since that snapshot is lost, and the Kubernetes API is away meanwhile."
	afterMachine   = "its deletion goes on: Node rack4 is drained, its etcd member a3 is removed from TalosCluster prod, and the TalosMachine is gone."
	afterEtcd      = "members beyond spec.replicas 1 are removed with their volumes (orders-1, orders-2)."
)

// Operations and all that is held are listed with what runs on release.
func TestOperationList(t *testing.T) {
	w := newOperationWorld(t, everything()...)
	w.gives(newOperationListCommand, exitOK, `OBJECT                 CLUSTER  PHASE    STEP        AGE  MESSAGE
talosoperation/rewind  prod     Running  Recovering  5m   etcd starts on cp-1.
talosoperation/older   prod     Held     -           26h  Once it is released: `+afterOperation+`
talosmachine/cp-3      prod     Held     -           90d  Once it is released: `+afterMachine+`
etcd/orders            -        Held     -           3h   Once it is released: `+afterEtcd+"\n", "")
	code, out, _ := w.run(newOperationListCommand, "-A")
	if code != exitOK || !strings.Contains(out, "\nmill       talosoperation/another  prod     Pending  -           5m   -\n") {
		t.Errorf("in all namespaces: %d\n%s", code, out)
	}
	code, out, _ = w.run(newOperationListCommand, "-o", "json")
	var found findings
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitOK || len(found.Operations) != 2 || len(found.Held) != 3 || found.Held[2].Epoch != "7" || found.Held[2].Then != afterEtcd {
		t.Errorf("as data: %d, %v\n%s", code, err, out)
	}
	newOperationWorld(t).gives(newOperationListCommand, exitOK, "", "No operations, and nothing is held.\n")
}

func TestOperationGet(t *testing.T) {
	op := rewind()
	op.Status.Conditions = []metav1.Condition{{Type: "Reconciling", Status: "True", Reason: "InProgress", Message: "etcd starts on cp-1.", LastTransitionTime: op.CreationTimestamp}}
	w := newOperationWorld(t, op, heldEtcd())
	const table = `Operation    factory/rewind
Kind         etcd-restore
Cluster      prod
Phase        Running
Step         Recovering
Message      etcd starts on cp-1.
Snapshot     etcd-20300102T140405Z.snapshot.age
Backup       nightly
Target       cp-1
Snapshot of  2030-01-02T14:30:00Z

CONDITION    STATUS  REASON      SINCE  MESSAGE
Reconciling  True    InProgress  5m     etcd starts on cp-1.
`
	w.gives(newOperationGetCommand, exitOK, table, "", "rewind")
	w.gives(newOperationGetCommand, exitOK, table, "", "talosoperation/rewind")
	code, out, _ := w.run(newOperationGetCommand, "rewind", "-o", "yaml")
	if code != exitOK || !strings.HasPrefix(out, "apiVersion: quorate.dev/v1alpha1\nkind: TalosOperation\n") {
		t.Errorf("as data: %d\n%s", code, out)
	}
	w.gives(newOperationGetCommand, exitUsage, "", "etcd/orders is no TalosOperation\n", "etcd/orders")
	w.gives(newOperationGetCommand, exitUsage, "", "\"pod/orders-0\": want NAME of a TalosOperation, or KIND/NAME with talosoperation, talosmachine or etcd\n", "pod/orders-0")
	w.gives(newOperationGetCommand, exitFailed, "", "get talosoperation/none in factory: talosoperations.quorate.dev \"none\" not found\n", "none")
}

// What runs then is said first, and nothing is released without a yes.
func TestOperationRelease(t *testing.T) {
	w := newOperationWorld(t, everything()...)
	const machine = "Restore 7 holds talosmachine/cp-3 in factory. Once it is released: " + afterMachine + "\n"
	for _, answer := range []string{"", "\n", "n\n", "yesterday\n"} {
		w.stdin = answer
		end := "declined; nothing was changed\n"
		if answer == "" {
			end = "\nnobody answered; nothing was changed. Give --yes to skip the question\n"
		}
		w.gives(newOperationReleaseCommand, exitFailed, "", machine+"Release it? [y/N] "+end, "talosmachine/cp-3")
	}
	if w.annotations(&v1alpha1.TalosMachine{}, "cp-3")[v1alpha1.AnnotationHeldByRestore] != "7" {
		t.Error("it was released without a yes")
	}
	w.stdin = "Y\n"
	w.gives(newOperationReleaseCommand, exitOK, "talosmachine/cp-3 released\n", machine+"Release it? [y/N] ", "tm/cp-3")
	w.gives(newOperationReleaseCommand, exitFailed, "", "talosmachine/cp-3 in factory: no restore holds it, nor is it paused, so there is nothing to release\n", "machine/cp-3")
	w.gives(newOperationReleaseCommand, exitOK, "etcd/orders released\n", "Restore 7 holds etcd/orders in factory. Once it is released: "+afterEtcd+"\n", "etcd/orders", "--yes")
	if _, held := w.annotations(&v1alpha1.Etcd{}, "orders")[v1alpha1.AnnotationHeldByRestore]; held {
		t.Error("the Etcd is still held")
	}
	w.gives(newOperationReleaseCommand, exitOK, "talosoperation/older released\n", "Restore 7 holds talosoperation/older in factory. Once it is released: "+afterOperation+"\n", "older", "-y")
	if got := w.annotations(&v1alpha1.TalosOperation{}, "older"); got[v1alpha1.AnnotationRelease] != "7" || got[v1alpha1.AnnotationHeldByRestore] != "7" {
		t.Errorf("annotations %v", got)
	}
	w.gives(newOperationReleaseCommand, exitFailed, "", "talosoperation/older in factory: it was released before, and its controller has not followed yet\n", "older", "-y")
}

// A paused restore goes on where it stopped, unless it never began.
func TestPausedOperationRelease(t *testing.T) {
	paused := rewind()
	paused.Status.Phase, paused.Status.FailureReason = v1alpha1.PhasePaused, "etcd was not recovered within 1h0m0s."
	unbegun := rewind()
	unbegun.Name, unbegun.Status = "unbegun", v1alpha1.TalosOperationStatus{Phase: v1alpha1.PhasePaused, FailureReason: "The snapshot is cut off."}
	running := rewind()
	running.Name = "running"
	w := newOperationWorld(t, paused, unbegun, running)
	const said = "talosoperation/rewind in factory is paused: etcd was not recovered within 1h0m0s. Once it is released: the operation goes on at Recovering.\n"
	w.stdin = "n\n"
	w.gives(newOperationReleaseCommand, exitFailed, "", said+"Release it? [y/N] declined; nothing was changed\n", "rewind")
	if _, asked := w.annotations(&v1alpha1.TalosOperation{}, "rewind")[v1alpha1.AnnotationRelease]; asked {
		t.Error("it was released without a yes")
	}
	w.gives(newOperationReleaseCommand, exitOK, "talosoperation/rewind released\n", said, "rewind", "-y")
	if got := w.annotations(&v1alpha1.TalosOperation{}, "rewind"); got[v1alpha1.AnnotationRelease] != "retry" {
		t.Errorf("annotations %v", got)
	}
	w.gives(newOperationReleaseCommand, exitFailed, "", "talosoperation/rewind in factory: it was released before, and its controller has not followed yet\n", "rewind", "-y")
	w.gives(newOperationReleaseCommand, exitFailed, "", "talosoperation/unbegun in factory: it was paused before it changed anything, and does not go on. Delete it, and order it again once what it names is mended\n", "unbegun", "-y")
	w.gives(newOperationReleaseCommand, exitFailed, "", "talosoperation/running in factory: no restore holds it, nor is it paused, so there is nothing to release\n", "running", "-y")
}

// What runs on release depends on what the object is about.
func TestAfterwards(t *testing.T) {
	worker := heldMachine()
	worker.Spec.Role, worker.Status.NodeName = v1alpha1.MachineWorker, ""
	stays := heldMachine()
	stays.DeletionTimestamp = nil
	etcd := func(change func(*v1alpha1.Etcd)) *v1alpha1.Etcd {
		e := heldEtcd()
		change(e)
		return e
	}
	for _, c := range []struct {
		of   client.Object
		want string
	}{
		{worker, "its deletion goes on: Node cp-3 is drained, and the TalosMachine is gone."},
		{stays, "nothing: it is not being deleted."},
		{etcd(func(e *v1alpha1.Etcd) { e.DeletionTimestamp = ptr.To(metav1.NewTime(operationNow)) }), "its deletion goes on: its members leave a cluster that others share, and its pods are gone; its volumes stay."},
		{etcd(func(e *v1alpha1.Etcd) { e.Spec.Replicas = ptr.To[int32](0) }), "its pods are gone, since spec.replicas is 0; its volumes stay."},
		{etcd(func(e *v1alpha1.Etcd) { e.Spec.Replicas = ptr.To[int32](3) }), "its controller makes it what spec asks for (3 members), and may remove, replace or restart members for that."},
	} {
		if got := afterwards(c.of); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestOperationCompletion(t *testing.T) {
	paused := rewind()
	paused.Name, paused.Status.Phase, paused.CreationTimestamp = "stopped", v1alpha1.PhasePaused, metav1.NewTime(operationNow.Add(-48*time.Hour))
	w := newOperationWorld(t, append(everything(), paused)...)
	for held, want := range map[bool]string{false: "rewind older stopped", true: "talosoperation/stopped talosoperation/older talosmachine/cp-3 etcd/orders"} {
		o := newOperationOptions()
		o.client = w.api
		*o.flags.Namespace = "factory"
		cmd := newOperationListCommand(o)
		cmd.SetContext(t.Context())
		if got, _ := o.complete(held)(cmd, nil, ""); strings.Join(got, " ") != want {
			t.Errorf("held %t: %q, want %q", held, got, want)
		}
	}
}

var errBroken = errors.New("connection refused")
