package worker

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/storage/mvcc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
)

// backupObject is a TalosEtcdBackup as the API server writes it.
func backupObject(t testing.TB, version string, s v1alpha1.ObjectStore) string {
	t.Helper()
	data, err := json.Marshal(v1alpha1.TalosEtcdBackup{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "TalosEtcdBackup"},
		Spec:     v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"}, Schedule: "@daily", ObjectStore: s},
	})
	must(t, err)
	return string(data)
}

func inspected(t testing.TB, path string) snapshot.Inspection {
	t.Helper()
	found, err := (&snapshot.Worker{}).Inspect(t.Context(), path)
	must(t, err)
	return found
}

// Backups are told with what leads to their objects, and with whether their Secret is
// there, of which nothing is told. One that cannot be read is told by its name alone.
func TestBackups(t *testing.T) {
	const secret = "c2VjcmV0LW9mLXRoZS1zdG9yZQ"
	at := v1alpha1.ObjectStore{Endpoint: "https://s3.example.com", Region: "eu-1", Bucket: "backups", Prefix: "prod", CredentialsRef: v1alpha1.LocalRef{Name: "keys"}}
	bare := v1alpha1.ObjectStore{Bucket: "others", CredentialsRef: v1alpha1.LocalRef{Name: "gone"}}
	near := v1alpha1.ObjectStore{Bucket: "others", CredentialsRef: v1alpha1.LocalRef{Name: "near"}}
	now := v1alpha1.GroupVersion.String()
	path := snapshotOf(t, func(kv mvcc.KV) {
		put(kv, "/registry/secrets/default/keys", "k8s:enc:secretbox:v1:key:"+secret)
		put(kv, "/registry/secrets/default/gone", "k8s:enc:secretbox:v1:key:"+secret)
		kv.DeleteRange([]byte("/registry/secrets/default/gone"), nil)
		put(kv, "/registry/secrets/other/gone", secret)
		put(kv, "/registry"+backupFolder+"default/deleted", backupObject(t, now, at))
		kv.DeleteRange([]byte("/registry"+backupFolder+"default/deleted"), nil)
		put(kv, "/registry"+backupFolder+"default/nightly", backupObject(t, now, bare))
		put(kv, "/registry"+backupFolder+"default/nightly", backupObject(t, now, at))
		put(kv, "/registry"+backupFolder+"default/bare", backupObject(t, now, bare))
		put(kv, "/registry"+backupFolder+"default/encrypted", "k8s:enc:secretbox:v1:key:"+secret)
		put(kv, "/registry"+backupFolder+"default/later", backupObject(t, "quorate.dev/v2", at))
		put(kv, "/registry/quorate.dev/talosmachines/default/nightly", backupObject(t, now, at))
		put(kv, "/kept/elsewhere"+backupFolder+"other/hourly", backupObject(t, now, near))
		put(kv, "/kept/elsewhere/secrets/other/near", secret)
		put(kv, backupFolder+"no-namespace", backupObject(t, now, at))
		put(kv, backupFolder+"default/too/deep", backupObject(t, now, at))
	})
	got := inspected(t, path)
	want := []snapshot.Backup{
		{Namespace: "other", Name: "hourly", Spec: &snapshot.BackupSpec{Cluster: "prod", Bucket: "others", Secret: "near", HasSecret: true}},
		{Namespace: "default", Name: "bare", Spec: &snapshot.BackupSpec{Cluster: "prod", Bucket: "others", Secret: "gone"}},
		{Namespace: "default", Name: "encrypted"},
		{Namespace: "default", Name: "later"},
		{Namespace: "default", Name: "nightly", Spec: &snapshot.BackupSpec{
			Cluster: "prod", Endpoint: "https://s3.example.com", Region: "eu-1", Bucket: "backups", Prefix: "prod", Secret: "keys", HasSecret: true}},
	}
	if !reflect.DeepEqual(got.Backups, want) || got.MoreBackups != 0 {
		t.Errorf("%d more, got\n%s\nwant\n%s", got.MoreBackups, text(t, got.Backups), text(t, want))
	}
	if answer := text(t, got); strings.Contains(answer, secret) {
		t.Errorf("a Secret's content is told: %s", answer)
	}
}

func text(t testing.TB, of any) string {
	t.Helper()
	data, err := json.MarshalIndent(of, "", "  ")
	must(t, err)
	return string(data)
}

// However many backups there are, and whatever is written into them, the answer is small.
func TestBackupsAreBounded(t *testing.T) {
	const many = 3000
	long := v1alpha1.ObjectStore{Bucket: strings.Repeat("<", 1<<20)}
	path := snapshotOf(t, func(kv mvcc.KV) {
		put(kv, "/registry"+backupFolder+"default/a-long-one", backupObject(t, v1alpha1.GroupVersion.String(), long))
		for i := range many {
			put(kv, fmt.Sprintf("/registry%sdefault/b-%04d", backupFolder, i), backupObject(t, v1alpha1.GroupVersion.String(), v1alpha1.ObjectStore{Bucket: "backups"}))
		}
	})
	got := inspected(t, path)
	size := len(text(t, got.Backups))
	if n := len(got.Backups); n < 1000 || n+int(got.MoreBackups) != many+1 || got.Backups[0].Name != "b-0000" {
		t.Errorf("%d are told and %d more, of %d; the first is %.40s", n, got.MoreBackups, many+1, got.Backups[0].Name)
	}
	if size > snapshot.MaxFrame/2 {
		t.Errorf("they take %d bytes", size)
	}
	t.Logf("%d of %d are told, in %d bytes", len(got.Backups), many+1, size)
}
