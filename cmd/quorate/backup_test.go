package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	yamlv3 "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

var backupNow = time.Date(2030, 1, 2, 15, 30, 0, 0, time.UTC)

const (
	threeOClock = "etcd-20300102T150000Z.snapshot.age"
	twoOClock   = "etcd-20300102T140000Z.snapshot.age"
)

// backupWorld is an API server and a store for the commands on backups.
type backupWorld struct {
	t     *testing.T
	api   client.WithWatch
	store store.Store
	key   *snapshot.Key
	// taken answers a request, as the controller would.
	taken bool
}

func newBackupWorld(t *testing.T) *backupWorld {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	bundle, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	check(t, err)
	data, err := yamlv3.Marshal(bundle)
	check(t, err)
	w := &backupWorld{t: t, taken: true}
	w.key, err = snapshot.DeriveKey(data)
	check(t, err)
	w.store, err = store.NewFolder(t.TempDir())
	check(t, err)
	scheme := runtime.NewScheme()
	check(t, clientgoscheme.AddToScheme(scheme))
	check(t, v1alpha1.AddToScheme(scheme))
	at := func(hour int) metav1.Time { return metav1.NewTime(time.Date(2030, 1, 2, hour, 0, 0, 0, time.UTC)) }
	proved := at(15)
	b := &v1alpha1.TalosEtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "hourly"}, Spec: v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "mill"}},
		Status: v1alpha1.TalosEtcdBackupStatus{
			Snapshots:  []v1alpha1.Snapshot{{Name: threeOClock, Time: at(15), Size: 4096, Revision: 70, Verified: &proved}, {Name: twoOClock, Time: at(14), Size: 2048, Revision: 60, UndoOf: "rewind"}},
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Message: "The object store refuses the credentials."}},
		},
	}
	w.api = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(b,
		&v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "mill"}, Spec: v1alpha1.TalosClusterSpec{SecretsBundleRef: v1alpha1.LocalRef{Name: "mill-secrets"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "mill-secrets"}, Data: map[string][]byte{"bundle": data}},
	).Build(), interceptor.Funcs{Get: w.get})
	return w
}

// get answers a request for a snapshot, if the controller works.
func (w *backupWorld) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := c.Get(ctx, key, o, opts...)
	if b, ok := o.(*v1alpha1.TalosEtcdBackup); ok && w.taken {
		b.Status.ObservedBackupRequest = b.Annotations[v1alpha1.AnnotationBackupRequested]
	}
	return err
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stores puts a snapshot that says its revision, and what is beside it.
func (w *backupWorld) stores(name string, revision int64, edit func(*snapshot.Meta)) {
	w.t.Helper()
	database := make([]byte, 4096)
	copy(database, fmt.Sprintf("%d\n", revision))
	sum := sha256.Sum256(database)
	var sealed bytes.Buffer
	s, err := snapshot.Seal(&sealed, bytes.NewReader(append(database, sum[:]...)), w.key)
	check(w.t, err)
	_, err = w.store.Put(w.t.Context(), name, &sealed)
	check(w.t, err)
	m := snapshot.Meta{Name: name, Namespace: "factory", Cluster: "mill", Size: s.Size, PlainSize: s.PlainSize, Sum: s.Sum, PlainSum: s.PlainSum, Revision: revision}
	edit(&m)
	data, err := m.Encode()
	check(w.t, err)
	_, err = w.store.Put(w.t.Context(), snapshot.MetaName(name), bytes.NewReader(data))
	check(w.t, err)
}

// Inspect reads what stores wrote.
func (w *backupWorld) Inspect(_ context.Context, path string) (found snapshot.Inspection, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return found, err
	}
	found = snapshot.Inspection{Keys: 12, Members: []snapshot.Member{{Name: "cp-1"}, {Name: "cp-2"}}, Sum: fmt.Sprintf("sha256:%x", sha256.Sum256(data))}
	_, err = fmt.Sscanf(string(data), "%d\n", &found.Revision)
	return found, err
}

// gives compares all that a command line gives.
func (w *backupWorld) gives(code int, stdout, stderr string, args ...string) {
	w.t.Helper()
	o := newBackupOptions()
	o.client, o.inspector, o.now = w.api, w, func() time.Time { return backupNow }
	o.stores = func(context.Context, *v1alpha1.TalosEtcdBackup) (store.Store, error) { return w.store, nil }
	cmd := newBackupCommandOf(o)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(append(args, "-n", "factory"))
	got := exitOK
	if err := cmd.ExecuteContext(w.t.Context()); err != nil {
		_, _ = io.WriteString(&errs, err.Error()+"\n")
		got = exitCode(err)
	}
	if got != code || out.String() != stdout || errs.String() != stderr {
		w.t.Errorf("%q\ngot  %d\n%s\n%s\nwant %d\n%s\n%s", args, got, out.String(), errs.String(), code, stdout, stderr)
	}
}

const snapshotTable = `BACKUP          CLUSTER  SNAPSHOT                            AGE  BYTES  REVISION  VERIFIED  UNDO OF
factory/hourly  mill     etcd-20300102T150000Z.snapshot.age  30m  4096   70        30m ago   -
`

// covers: C-4
func TestBackupList(t *testing.T) {
	w := newBackupWorld(t)
	w.gives(0, snapshotTable+"factory/hourly  mill     etcd-20300102T140000Z.snapshot.age  90m  2048   60        never     rewind\n", "", "list")
	w.gives(0, `- backup: hourly
  cluster: mill
  name: etcd-20300102T150000Z.snapshot.age
  namespace: factory
  revision: 70
  size: 4096
  time: "2030-01-02T15:00:00Z"
  verified: "2030-01-02T15:00:00Z"
- backup: hourly
  cluster: mill
  name: etcd-20300102T140000Z.snapshot.age
  namespace: factory
  revision: 60
  size: 2048
  time: "2030-01-02T14:00:00Z"
  undoOf: rewind
`, "", "list", "hourly", "-o", "yaml")
	w.gives(1, "", "get talosetcdbackup/weekly in factory: talosetcdbackups.quorate.dev \"weekly\" not found\n", "list", "weekly")
	w.gives(2, "", "a name and --all-namespaces exclude each other\n", "list", "hourly", "-A")
	w.gives(2, "", "unknown output \"xml\"; want one of table, json, yaml\n", "list", "-o", "xml")
	check(t, w.api.DeleteAllOf(t.Context(), &v1alpha1.TalosEtcdBackup{}, client.InNamespace("factory")))
	w.gives(0, "", "No snapshots. kubectl describe talosetcdbackups says what they wait for.\n", "list", "-A")
	w.gives(0, "[]\n", "", "list", "-o", "json")
}

func TestBackupNow(t *testing.T) {
	w := newBackupWorld(t)
	w.gives(0, snapshotTable, "", "now", "hourly")
	w.gives(0, "", "Asked for a snapshot of cluster mill.\n", "now", "hourly", "--wait=false")
	w.gives(2, "", "accepts 1 arg(s), received 0\n", "now")
	w.taken = false
	w.gives(1, "", "The object store refuses the credentials.\nthe snapshot was not taken in time; it is still asked for: context deadline exceeded\n", "now", "hourly", "--timeout", "20ms")
}

func TestBackupVerify(t *testing.T) {
	w := newBackupWorld(t)
	w.gives(1, "", "the store has no whole snapshot of the cluster\n", "verify", "hourly")
	w.stores(twoOClock, 60, func(m *snapshot.Meta) { m.Revision = 61 })
	w.stores(threeOClock, 70, func(*snapshot.Meta) {})
	size := func(name string) int64 {
		info, err := w.store.Stat(t.Context(), name)
		check(t, err)
		return info.Size
	}
	reading := fmt.Sprintf("Reading %s, %d bytes.\n", threeOClock, size(threeOClock))
	w.gives(0, `SNAPSHOT                            GOOD  REVISION  KEYS  MEMBERS    MESSAGE
etcd-20300102T150000Z.snapshot.age  yes   70        12    cp-1,cp-2  -
`, reading, "verify", "hourly")
	// Of a lost cluster of the same name, whose bundle was another one.
	w.stores("etcd-20300102T160000Z.snapshot.age", 80, func(m *snapshot.Meta) { m.TalosClusterID = "lost" })
	w.gives(1, `SNAPSHOT                            GOOD  REVISION  KEYS  MEMBERS    MESSAGE
etcd-20300102T150000Z.snapshot.age  yes   70        12    cp-1,cp-2  -
etcd-20300102T140000Z.snapshot.age  no    -         -     -          the snapshot is damaged: it is another one than is written beside it
`, reading+fmt.Sprintf("Reading %s, %d bytes.\n", twoOClock, size(twoOClock))+"a snapshot cannot be restored\n", "verify", "hourly", "--all")
	w.gives(1, "", "the store has no whole snapshot of the cluster by the name etcd-20300102T130000Z.snapshot.age; quorate backup list hourly shows those that it has\n",
		"verify", "hourly", strings.Replace(twoOClock, "14", "13", 1))
	w.gives(2, "", "a snapshot and --all exclude each other\n", "verify", "hourly", twoOClock, "--all")
}
