package restoreplan

import (
	"context"
	"iter"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/snapshot"
)

const newest = "etcd-20300102T150405Z.snapshot.age"

var (
	taken = time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)
	later = taken.Add(2*time.Hour + 3*time.Minute)
)

// beyond answers as told.
type beyond struct {
	secrets   Secrets
	then      Then
	found     snapshot.Inspection
	now       Now
	marker    *restoring.OtherMarker
	keysThen  []string
	keysNow   []string
	reports   map[string]string
	fails     map[string]error
	deadlines []string // questions without a deadline
	closed    int
}

func (b *beyond) asked(ctx context.Context, question string) error {
	if _, ok := ctx.Deadline(); !ok {
		b.deadlines = append(b.deadlines, question)
	}
	return b.fails[question]
}

func (b *beyond) Secrets(ctx context.Context) (Secrets, error) {
	return b.secrets, b.asked(ctx, "secrets")
}
func (b *beyond) Then(ctx context.Context, _ string) (Then, error) {
	return b.then, b.asked(ctx, "then")
}
func (b *beyond) Marker(ctx context.Context) (*restoring.OtherMarker, error) {
	return b.marker, b.asked(ctx, "marker")
}
func (b *beyond) Now(ctx context.Context) (Now, error) { return b.now, b.asked(ctx, "now") }
func (b *beyond) Found(ctx context.Context, _ string) (snapshot.Inspection, error) {
	return b.found, b.asked(ctx, "found")
}
func (b *beyond) KeysThen(ctx context.Context, _, _ string) iter.Seq2[string, error] {
	return b.keys(ctx, "keys then", b.keysThen)
}
func (b *beyond) KeysNow(ctx context.Context, _ string) iter.Seq2[string, error] {
	return b.keys(ctx, "keys now", b.keysNow)
}
func (b *beyond) keys(ctx context.Context, question string, keys []string) iter.Seq2[string, error] {
	if err := b.asked(ctx, question); err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return listed(keys...)
}
func (b *beyond) Reported(_ context.Context, m *v1alpha1.TalosMachine) string {
	return b.reports[m.Name]
}
func (b *beyond) Close() error { b.closed++; return nil }

// world is a cluster with three control planes and a worker, the controller on cp-b.
func world() []client.Object {
	worker := machine("worker-1", "192.0.2.21")
	worker.Spec.Role = v1alpha1.MachineWorker
	stranger := machine("cp-x", "192.0.2.19")
	stranger.Spec.Approved = false
	elsewhere := machine("pier-1", "192.0.2.31")
	elsewhere.Spec.ClusterRef.Name = "pier"
	return []client.Object{
		&v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "prod"}},
		&v1alpha1.TalosEtcdBackup{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
			Spec: v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"},
				ObjectStore: v1alpha1.ObjectStore{Endpoint: "https://s3.example.com", Bucket: "backups", Prefix: "prod"}},
			Status: v1alpha1.TalosEtcdBackupStatus{Snapshots: []v1alpha1.Snapshot{
				{Name: newest, Time: metav1.NewTime(taken), Size: 1, Revision: 4000}, {Name: "etcd-20300101T150405Z.snapshot.age", Time: metav1.NewTime(taken.Add(-24 * time.Hour)), Size: 1}}},
		},
		machine("cp-b", "192.0.2.12"), machine("cp-c", "192.0.2.13"), machine("cp-a", "192.0.2.11"), worker, stranger, elsewhere,
		managerPod("quorate-system", "manager-1", "n-b"), nodeAt("n-b", "192.0.2.12"),
	}
}

// known is all that can be known of it.
func known() *beyond {
	all := restoring.Authorities{Etcd: "sha256:e1", Kubernetes: "sha256:k1", OS: "sha256:o1"}
	b := &beyond{
		secrets: Secrets{all, "sha256:a1"},
		then: Then{Time: taken, Revision: 4000, Quorate: "v1.0.0", Authorities: all, KeyFingerprint: "sha256:a1", Members: []guard.Member{
			{ID: 1, Name: "cp-a", PeerURLs: []string{"https://192.0.2.11:2380"}}, {ID: 2, Name: "cp-b", PeerURLs: []string{"https://192.0.2.12:2380"}},
			{ID: 4, Name: "cp-d", PeerURLs: []string{"https://192.0.2.14:2380"}}}},
		found: snapshot.Inspection{Backups: []snapshot.Backup{{Namespace: "default", Name: "nightly", Spec: &snapshot.BackupSpec{
			Cluster: "prod", Endpoint: "https://s3.example.com", Region: "us-east-1", Bucket: "backups", Prefix: "prod", Secret: "keys", HasSecret: true}}}},
		now:      Now{Revision: 5234, Alarms: []string{"NOSPACE on cp-a"}},
		keysThen: []string{"/registry/configmaps/shop/lost", "/registry/pods/shop/web"},
		keysNow:  []string{"/registry/pods/shop/late", "/registry/pods/shop/web"},
	}
	for _, name := range WantedCRDs {
		b.found.CRDs = append(b.found.CRDs, snapshot.CRD{Name: name})
	}
	return b
}

func planned(t *testing.T, b *beyond, r Request, objects ...client.Object) (*Plan, error) {
	t.Helper()
	var open Open
	if b != nil {
		open = func(context.Context, *v1alpha1.TalosCluster, *v1alpha1.TalosEtcdBackup, []v1alpha1.TalosMachine) (Beyond, error) {
			return b, nil
		}
	}
	r.Namespace, r.Installation, r.Quorate = "default", "quorate-system", "v1.0.0"
	return Make(t.Context(), apiServer(t, nil, objects...), open, r, later)
}
