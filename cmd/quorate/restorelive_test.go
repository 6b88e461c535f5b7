package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

const question = "\nRestore etcd of cluster prod? [y/N] "

// Who is asked what, and what stops it: nothing is created then.
//
// covers: C-39
func TestRestoreLiveAsks(t *testing.T) {
	const name = "The cluster's name, to be sure: "
	for _, tt := range []struct {
		name string
		in   string
		args []string
		deny bool
		code int
		want string
	}{
		{"without --override nothing is even read", "y\nprod\n", nil, false, exitFailed, "quorate: restoring a live cluster is refused without --override: everything that was written after the snapshot is lost. Give it if that is what you mean\n"},
		{"without the verb", "y\nprod\n", []string{"--override"}, true, exitFailed, "quorate: restoring cluster prod is refused: you do not hold the verb override on talosclusters.quorate.dev prod in namespace default. Ask an administrator to grant it, for instance with the ClusterRole quorate-override\n"},
		{"no", "n\n", []string{"--override"}, false, exitFailed, question + "quorate: declined; nothing was changed\n"},
		{"return is no", "\n", []string{"--override"}, false, exitFailed, question + "quorate: declined; nothing was changed\n"},
		{"nobody", "", []string{"--override"}, false, exitFailed, question + "\nquorate: nobody answered; nothing was changed. Give --yes to skip the question\n"},
		{"another name", "y\ntest\n", []string{"--override"}, false, exitFailed, question + name + "quorate: the name given is \"test\", and the cluster is prod; nothing was changed\n"},
		{"--yes does not skip the name", "", []string{"--override", "--yes"}, false, exitFailed, name + "\nquorate: nobody answered; nothing was changed. Give the name with --confirm\n"},
		{"--confirm with another name", "", []string{"--override", "--yes", "--confirm", "test"}, false, exitFailed, "quorate: the name given is \"test\", and the cluster is prod; nothing was changed\n"},
		{"no such cluster", "", []string{"--override", "--backup", "nightly", "--snapshot", "x"}, false, exitUsage, "quorate: what is to be restored is open: \"x\" is no snapshot's name; they are like etcd-20300102T150405Z.snapshot.age\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &liveAPI{allowed: !tt.deny}
			code, _, errs := runLiveCommand(t, a, tt.in, tt.args...)
			if code != tt.code || errs != tt.want || len(a.created) != 0 {
				t.Errorf("exit %d, created %d, stderr\n%q, want\n%q", code, len(a.created), errs, tt.want)
			}
			if tt.args == nil && len(a.asked) != 0 {
				t.Errorf("the API server was asked %v", a.asked)
			}
		})
	}
}

// covers: C-39
func TestRestoreLiveOrders(t *testing.T) {
	a := &liveAPI{allowed: true, user: "alice@example.com"}
	code, out, errs := runLiveCommand(t, a, "y\nprod\n", "--override", "--without-undo", "--allow-unconditional-store")
	if code != exitOK || len(a.created) != 1 {
		t.Fatalf("exit %d, created %d, %s", code, len(a.created), errs)
	}
	op := a.created[0]
	spec := op.Spec.EtcdRestore
	if op.Namespace != "default" || !strings.HasPrefix(op.Name, "prod-restore-") || op.Spec.Kind != v1alpha1.OperationEtcdRestore || op.Spec.ClusterRef.Name != "prod" ||
		*spec != (v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: "nightly"}, Snapshot: "etcd-20300102T150405Z.snapshot.age", Confirm: "prod", WithoutUndo: true, AllowUnconditionalStore: true}) {
		t.Errorf("created %+v", op)
	}
	if len(op.Annotations) != 1 || op.Annotations[v1alpha1.AnnotationRequestedBy] != "alice@example.com" {
		t.Errorf("annotations %v", op.Annotations)
	}
	for _, want := range []string{
		"Restore of etcd of cluster default/prod from backup nightly\n", "Wipe etcd data on cp-a, cp-b\n", "12 revisions of etcd",
		"  - The snapshot and etcd could not be looked at: get Secret default/keys: you may not get Secret keys; get Secret default/bundle: you may not get Secret bundle.\n",
		"\ntalosoperation.quorate.dev/" + op.Name + " pending\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// As data: the plan that a person reads is beside it, and the operation as it ended in it.
// A server that does not say who asks is no obstacle.
//
// covers: C-39
func TestRestoreLiveAsData(t *testing.T) {
	a := &liveAPI{allowed: true}
	code, out, errs := runLiveCommand(t, a, "", "--override", "--yes", "--confirm", "prod", "--follow", "-o", "json")
	var got restored
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s, %s", err, out, errs)
	}
	if code != exitOK || got.Plan.ConfirmName != "prod" || got.Operation.Status.Phase != v1alpha1.PhaseCompleted || got.Operation.Annotations != nil {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, want := range []string{"What happens\n", "API server SERVER is asked alone: the kubeconfig's server is not reached by TLS, so that no other one could prove what it is\n", "operation " + got.Operation.Name + " is created\n"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}
}

// What stands in the way ends it before anybody is asked.
func TestRestoreLiveBlocked(t *testing.T) {
	a := &liveAPI{allowed: true, extra: `{"metadata":{"namespace":"default","name":"first"},"spec":{"kind":"etcd-restore","clusterRef":{"name":"prod"}},"status":{"phase":"Running"}}`}
	code, out, errs := runLiveCommand(t, a, "y\nprod\n", "--override", "-o", "yaml")
	if code != exitFailed || len(a.created) != 0 || !strings.HasSuffix(errs, "quorate: the restore cannot begin, for the reasons that the plan ends with (1)\n") ||
		!strings.Contains(out, "Operation first of cluster prod is unfinished (Running).") || strings.Contains(errs, question) {
		t.Errorf("exit %d, %s, %s", code, out, errs)
	}
}
