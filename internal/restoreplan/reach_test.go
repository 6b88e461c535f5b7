package restoreplan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/worker"
	"github.com/quorate/quorate/internal/store"
)

// TestMain is the child's role, as this program is what a Worker starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == snapshot.Role {
		os.Exit(worker.Serve(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database is a snapshot of etcd's own store with these keys.
func database(t *testing.T, keys ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	c := backend.DefaultBackendConfig(zap.NewNop())
	c.Path, c.UnsafeNoFsync = path, true
	b := backend.New(c)
	kv := mvcc.NewStore(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{})
	schema.NewMembershipBackend(zap.NewNop(), b).MustCreateBackendBuckets()
	for _, k := range keys {
		kv.Put([]byte(k), []byte("x"), lease.NoLease)
	}
	kv.Commit()
	must(t, kv.Close())
	must(t, b.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// reached is a Reach with a store of its own that has one snapshot.
func reached(t *testing.T) *Reach {
	t.Helper()
	data, err := bundleYAML()
	must(t, err)
	r := &Reach{}
	r.bundle, err = parseBundle(data)
	must(t, err)
	r.store, err = store.NewFolder(t.TempDir())
	must(t, err)
	var sealed bytes.Buffer
	found, err := snapshot.Seal(&sealed, bytes.NewReader(database(t, "/registry/pods/shop/b", "/registry/pods/shop/a", "/other")), r.bundle.key)
	must(t, err)
	_, err = r.store.Put(t.Context(), newest, &sealed)
	must(t, err)
	authorities, err := snapshot.Authorities(data)
	must(t, err)
	meta, err := snapshot.Meta{Name: newest, Cluster: "prod", Time: taken, Revision: 4000, Members: []snapshot.Member{{ID: "a1", Name: "cp-a", PeerURLs: []string{"https://192.0.2.11:2380"}}},
		Size: found.Size, PlainSize: found.PlainSize, Sum: found.Sum, PlainSum: found.PlainSum, Authorities: authorities, KeyFingerprint: r.bundle.key.Fingerprint(), Quorate: "v1.0.0"}.Encode()
	must(t, err)
	_, err = r.store.Create(t.Context(), snapshot.MetaName(newest), meta)
	must(t, err)
	return r
}

// What the store has of a snapshot, and what it has not.
func TestReachThen(t *testing.T) {
	r := reached(t)
	then, err := r.Then(t.Context(), newest)
	if err != nil || then.Revision != 4000 || !then.Time.Equal(taken) || then.Quorate != "v1.0.0" || len(then.Members) != 1 || then.Members[0].ID != 0xa1 {
		t.Errorf("%v, %+v", err, then)
	}
	now, err := r.Secrets(t.Context())
	if err != nil || now.Authorities != then.Authorities || now.KeyFingerprint != then.KeyFingerprint || now.KeyFingerprint == "" {
		t.Errorf("%v, %+v against %+v", err, now, then)
	}
	if _, err := r.Then(t.Context(), "etcd-20300101T000000Z.snapshot.age"); !errors.Is(err, ErrNotWhole) {
		t.Errorf("got %v", err)
	}
	must(t, r.store.Delete(t.Context(), snapshot.MetaName(newest)))
	if _, err := r.Then(t.Context(), newest); !errors.Is(err, ErrNotWhole) {
		t.Errorf("without what is beside it: %v", err)
	}
}

// The keys of the snapshot, sorted; nothing of it is left on the disk.
func TestReachKeys(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := reached(t)
	var got []string
	for key, err := range r.KeysThen(t.Context(), newest, registry) {
		must(t, err)
		got = append(got, key)
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "quorate-plan-") }) {
			t.Errorf("the plaintext has a name: %v, %v", left, err)
		}
	}
	if !slices.Equal(got, []string{"/registry/pods/shop/a", "/registry/pods/shop/b"}) {
		t.Errorf("got %v", got)
	}
	r.bundleErr = errors.New("denied")
	for _, err := range r.KeysThen(t.Context(), newest, registry) {
		if !errors.Is(err, r.bundleErr) {
			t.Errorf("got %v", err)
		}
	}
}

// fetches counts what is read of a store.
type fetches struct {
	store.Store
	snapshots int
}

func (f *fetches) Get(ctx context.Context, name string) (io.ReadCloser, store.Info, error) {
	if name == newest {
		f.snapshots++
	}
	return f.Store.Get(ctx, name)
}

// What is in the snapshot, by the child; one copy of it serves all that is asked, and is
// gone in the end.
func TestReachFound(t *testing.T) {
	r := reached(t)
	counted := &fetches{Store: r.store}
	r.store = counted
	for range 2 {
		found, err := r.Found(t.Context(), newest)
		if err != nil || found.Keys != 3 || found.Revision != 4 {
			t.Fatalf("%v, %+v", err, found)
		}
		for _, err := range r.KeysThen(t.Context(), newest, registry) {
			must(t, err)
		}
	}
	if counted.snapshots != 1 {
		t.Errorf("the snapshot is read %d times", counted.snapshots)
	}
	must(t, r.Close())
	if _, err := os.ReadFile(r.plain); err == nil {
		t.Errorf("the plaintext is left at %s", r.plain)
	}
	for _, deny := range []func(*Reach){func(r *Reach) { r.storeErr = errDenied }, func(r *Reach) { r.bundleErr = errDenied }} {
		r := reached(t)
		deny(r)
		if _, err := r.Found(t.Context(), newest); !errors.Is(err, errDenied) {
			t.Errorf("got %v", err)
		}
	}
}

var errDenied = errors.New("you may not read it")

// A marker stands in the way, also one that this version cannot read.
func TestReachMarker(t *testing.T) {
	for _, tt := range []struct{ name, data, operation, step string }{
		{"of an operation", `{"schema":1,"cluster":"prod","step":"Wiping","target":"cp-a","pinned":{"floor":1},"nodes":[{"machine":"cp-a"}],"operation":{"name":"first"}}`, "first", "Wiping"},
		{"by command line", `{"schema":1,"cluster":"prod","step":"Rejoining","target":"cp-a","pinned":{"floor":1},"nodes":[{"machine":"cp-a"}]}`, "ordered by command line", "Rejoining"},
		{"of a newer Quorate", `{"schema":99}`, "unknown", "a step that this version cannot read"},
		{"broken", `{`, "unknown", "a step that this version cannot read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reached(t)
			if m, err := r.Marker(t.Context()); m != nil || err != nil {
				t.Fatalf("%v, %v", m, err)
			}
			_, err := r.store.Create(t.Context(), restore.MarkerName, []byte(tt.data))
			must(t, err)
			m, err := r.Marker(t.Context())
			if err != nil || m == nil || m.Operation != tt.operation || string(m.Step) != tt.step {
				t.Errorf("%v, %+v", err, m)
			}
		})
	}
}

// Neither Secret there: nothing beyond; one there: what it opens.
func TestReacher(t *testing.T) {
	cluster := &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "prod"}, Spec: v1alpha1.TalosClusterSpec{SecretsBundleRef: v1alpha1.LocalRef{Name: "bundle"}}}
	backup := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"}, Spec: v1alpha1.TalosEtcdBackupSpec{ObjectStore: v1alpha1.ObjectStore{Bucket: "backups", CredentialsRef: v1alpha1.LocalRef{Name: "keys"}}}}
	if _, err := Reacher(apiServer(t, nil))(t.Context(), cluster, backup, nil); err == nil || !strings.Contains(err.Error(), "there is no Secret default/keys") || !strings.Contains(err.Error(), "there is no Secret default/bundle") {
		t.Errorf("got %v", err)
	}
	data, err := bundleYAML()
	must(t, err)
	bundle := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bundle"}, Data: map[string][]byte{"bundle": data}}
	b, err := Reacher(apiServer(t, nil, bundle))(t.Context(), cluster, backup, nil)
	must(t, err)
	if now, err := b.Secrets(t.Context()); err != nil || now.KeyFingerprint == "" {
		t.Errorf("%v, %+v", err, now)
	}
	if _, err := b.Then(t.Context(), newest); !errors.Is(err, store.ErrSettings) {
		t.Errorf("got %v", err)
	}
	must(t, b.Close())
}
