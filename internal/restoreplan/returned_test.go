package restoreplan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/snapshot"
)

// A backup is found in a snapshot by its namespace, name and cluster. Where it cannot be
// said that it is not there, it is not absent.
func TestReturnedOf(t *testing.T) {
	nightly := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec: v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"}}}
	of := func(cluster string) *snapshot.BackupSpec {
		return &snapshot.BackupSpec{Cluster: cluster, Endpoint: "https://s3.example.com", Region: "eu-1", Bucket: "backups", Prefix: "prod", Secret: "keys"}
	}
	others := []snapshot.Backup{{Namespace: "other", Name: "nightly", Spec: of("prod")}, {Namespace: "default", Name: "hourly", Spec: of("prod")}}
	with := func(spec *snapshot.BackupSpec) snapshot.Inspection {
		return snapshot.Inspection{Backups: append(slices.Clone(others), snapshot.Backup{Namespace: "default", Name: "nightly", Spec: spec})}
	}
	for _, tt := range []struct {
		name  string
		found snapshot.Inspection
		want  restoring.Returned
	}{
		{"there", with(of("prod")), restoring.Returned{
			Store: &restoring.StoreSettings{Endpoint: "https://s3.example.com", Region: "eu-1", Bucket: "backups", Prefix: "prod"}, Secret: "keys", NoSecret: true}},
		{"others alone", snapshot.Inspection{Backups: others}, restoring.Returned{Absent: true}},
		{"of another cluster", with(of("pier")), restoring.Returned{Absent: true}},
		{"unreadable", with(nil), restoring.Returned{}},
		{"perhaps left out", snapshot.Inspection{Backups: others, MoreBackups: 1}, restoring.Returned{}},
	} {
		if got := ReturnedOf(nightly, tt.found); !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, *got, tt.want)
		}
	}
}

// Whoever agrees is warned of a backup that cannot be read in the snapshot.
func TestUnreadableBackup(t *testing.T) {
	b := known()
	b.found.Backups[0].Spec = nil
	p, err := planned(t, b, Request{}, world()...)
	if err != nil || len(p.Blocked) != 0 {
		t.Fatalf("%v, blocked %v", err, p.Blocked)
	}
	told := func(w string) bool {
		return strings.HasPrefix(w, "What the snapshot says of backup nightly could not be read")
	}
	if !slices.ContainsFunc(p.Warnings, told) {
		t.Errorf("got %q", p.Warnings)
	}
}
