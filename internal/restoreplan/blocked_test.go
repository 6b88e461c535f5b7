package restoreplan

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/snapshot"
)

// What stands in the way is found in what was read.
func TestBlockedPlans(t *testing.T) {
	unfinished := &v1alpha1.TalosOperation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}, Spec: v1alpha1.TalosOperationSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"}}, Status: v1alpha1.TalosOperationStatus{Phase: v1alpha1.PhaseRunning}}
	done, other := unfinished.DeepCopy(), unfinished.DeepCopy()
	done.Name, done.Status.Phase = "done", v1alpha1.PhaseCompleted
	other.Name, other.Spec.ClusterRef.Name = "other", "pier"
	foreign := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foreign"}, Spec: v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "pier"}}}
	for _, tt := range []struct {
		name    string
		request Request
		change  func(*beyond)
		objects []client.Object
		want    []restoring.Reason
	}{
		{"nothing", Request{}, func(*beyond) {}, []client.Object{done, other}, nil},
		{"another operation", Request{}, func(*beyond) {}, []client.Object{unfinished, done, other}, []restoring.Reason{restoring.BlockedOperation}},
		{"not listed", Request{Snapshot: "etcd-20291231T000000Z.snapshot.age"}, func(b *beyond) { b.fails = map[string]error{"then": ErrNotWhole} }, nil, []restoring.Reason{restoring.BlockedNotListed}},
		{"listed by the store alone", Request{Snapshot: "etcd-20291231T000000Z.snapshot.age"}, func(*beyond) {}, nil, nil},
		{"listed by the status alone", Request{}, func(b *beyond) { b.fails = map[string]error{"then": ErrNotWhole} }, nil, []restoring.Reason{restoring.BlockedNotListed}},
		{"another cluster's backup", Request{Backup: "foreign", Snapshot: newest}, func(b *beyond) {
			b.found.Backups = append(b.found.Backups, snapshot.Backup{Namespace: "default", Name: "foreign", Spec: &snapshot.BackupSpec{Cluster: "pier", HasSecret: true}})
		}, []client.Object{foreign}, []restoring.Reason{restoring.BlockedOtherCluster}},
		{"a CA", Request{}, func(b *beyond) { b.secrets.Authorities.Kubernetes = "sha256:k2" }, nil, []restoring.Reason{restoring.BlockedAuthority}},
		{"the key", Request{}, func(b *beyond) { b.secrets.KeyFingerprint = "sha256:a2" }, nil, []restoring.Reason{restoring.BlockedKey}},
		{"a newer Quorate", Request{}, func(b *beyond) { b.then.Quorate = "v1.1.0" }, nil, []restoring.Reason{restoring.BlockedNewer}},
		{"another store then", Request{}, func(b *beyond) { b.found.Backups[0].Spec.Prefix = "test" }, nil, []restoring.Reason{restoring.BlockedOtherStore}},
		{"no backup then", Request{}, func(b *beyond) { b.found.Backups = nil }, nil, []restoring.Reason{restoring.BlockedBackupAbsent}},
		{"no credentials then", Request{}, func(b *beyond) { b.found.Backups[0].Spec.HasSecret = false }, nil, []restoring.Reason{restoring.BlockedNoCredentials}},
		{"no definition then", Request{}, func(b *beyond) { b.found.CRDs = b.found.CRDs[1:] }, nil, []restoring.Reason{restoring.BlockedCRDs}},
		{"nobody could look", Request{}, func(b *beyond) { b.found, b.fails = snapshot.Inspection{}, map[string]error{"found": ErrNotWhole} }, nil, nil},
		{"a marker", Request{}, func(b *beyond) { b.marker = &restoring.OtherMarker{Operation: "first", Step: v1alpha1.StepWiping} }, nil, []restoring.Reason{restoring.BlockedMarker}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := known()
			tt.change(b)
			p, err := planned(t, b, tt.request, append(world(), tt.objects...)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []restoring.Reason
			for _, block := range p.Blocked {
				got = append(got, block.Reason)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", p.Blocked, tt.want)
			}
		})
	}
}

// The only control plane hosts the controller: the command is given, with all that is known.
//
// covers: C-35
func TestOnlyControlPlane(t *testing.T) {
	objects := slices.DeleteFunc(world(), func(o client.Object) bool { return o.GetName() == "cp-a" || o.GetName() == "cp-c" })
	p, err := planned(t, nil, Request{}, objects...)
	if err != nil {
		t.Fatal(err)
	}
	const want = "cp-b is the only control plane, and the controller runs on it: its wipe would end the controller before etcd is recovered. Restore from another machine: " +
		"quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://backups/prod --s3-endpoint https://s3.example.com --snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.12"
	if len(p.Blocked) != 1 || p.Blocked[0] != (restoring.Block{Reason: restoring.BlockedOnlyControlPlane, Message: want}) {
		t.Errorf("got %+v", p.Blocked)
	}
	if got := p.Steps[3]; got != "Wipe etcd data on cp-b (where this controller runs)" {
		t.Errorf("got %s", got)
	}
}

func TestNoControlPlane(t *testing.T) {
	objects := slices.DeleteFunc(world(), func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "cp-") })
	p, err := planned(t, nil, Request{}, objects...)
	if err != nil || len(p.Blocked) != 1 || p.Blocked[0].Reason != restoring.BlockedNoControlPlane || len(p.Steps) != 2 || p.Target != "" {
		t.Errorf("%v, %+v", err, p)
	}
}

// Where the controller is: found by an address, by what Talos says, on a worker, outside.
func TestControllerOn(t *testing.T) {
	without := slices.DeleteFunc(world(), func(o client.Object) bool { return o.GetName() == "manager-1" || o.GetName() == "n-b" })
	for _, tt := range []struct {
		name    string
		objects []client.Object
		reports map[string]string
		wipe    string
		target  string
	}{
		{"outside", nil, nil, "Wipe etcd data on cp-a, cp-b, cp-c", "cp-a"},
		{"the target by name", []client.Object{managerPod("default", "m", "n-a"), nodeAt("n-a", "192.0.2.11")}, nil, "Wipe etcd data on cp-b, cp-c, then cp-a (where this controller runs) once the others have rejoined", "cp-b"},
		{"as Talos reports", []client.Object{managerPod("default", "m", "n-c")}, map[string]string{"cp-c": "n-c"}, "Wipe etcd data on cp-a, cp-b, then cp-c (where this controller runs) once the others have rejoined", "cp-a"},
		{"on a worker", []client.Object{managerPod("default", "m", "n-w"), nodeAt("n-w", "192.0.2.21")}, nil, "Wipe etcd data on cp-a, cp-b, cp-c", "cp-a"},
		{"on a control plane that is not approved", []client.Object{managerPod("default", "m", "n-x"), nodeAt("n-x", "192.0.2.19")}, nil, "Wipe etcd data on cp-a, cp-b, cp-c", "cp-a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := planned(t, &beyond{reports: tt.reports}, Request{}, append(slices.Clone(without), tt.objects...)...)
			if err != nil || !slices.Contains(p.Steps, tt.wipe) || p.Target != tt.target {
				t.Errorf("%v, target %s, got %q", err, p.Target, p.Steps)
			}
		})
	}
}
