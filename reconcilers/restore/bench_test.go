package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/restoreplan"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/talos"
)

// bench prepares a restore of a world with nodes that are played.
type bench struct {
	*world
	p      *Preparer
	dir    string
	key    *snapshot.Key
	meta   snapshot.Meta
	nodes  map[string]*playedNode
	worker *playedWorker
	undo   error
	// changed turns the store, order and marker into others, for one test.
	order Order
}

// playedNode answers for a machine.
type playedNode struct {
	name    string // of its Node
	address string
	err     error // of all it is asked
	unread  error
	other   error
	etcdErr error
}

func (n *playedNode) Address() string                           { return n.address }
func (n *playedNode) VerifyCluster(context.Context) error       { return errors.Join(n.err, n.other) }
func (n *playedNode) NodeName(context.Context) (string, error)  { return n.name, n.err }
func (n *playedNode) BootID(context.Context) (string, error)    { return "boot-" + n.name, n.err }
func (n *playedNode) HasEtcdData(context.Context) (bool, error) { return true, n.unread }
func (n *playedNode) Volumes(context.Context) ([]string, error) { return []string{"ETCD"}, n.err }
func (n *playedNode) Close() error                              { return nil }

// playedWorker stands for the child.
type playedWorker struct {
	inspection snapshot.Inspection
	err        error
}

func (p *playedWorker) Inspect(context.Context, string) (snapshot.Inspection, error) {
	return p.inspection, p.err
}

func (p *playedWorker) Reseal(_ context.Context, in, out string, bump int64) (snapshot.Resealed, error) {
	plain, err := os.ReadFile(in)
	if err != nil {
		return snapshot.Resealed{}, err
	}
	made := whole(append([]byte("resealed "), plain...))
	return snapshot.Resealed{Revision: p.inspection.Revision + bump, Before: p.inspection.Revision}, os.WriteFile(out, made, 0o600)
}

// whole is a snapshot in plain: a database of whole pages, and its sum.
func whole(database []byte) []byte {
	pages := make([]byte, 4096*(len(database)/4096+1))
	copy(pages, database)
	sum := sha256.Sum256(pages)
	return append(pages, sum[:]...)
}

const secretsBundle = `cluster:
  id: cXVheQ==
  secret: c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMw==
secrets:
  secretboxencryptionsecret: Ym94LWJveC1ib3gtYm94LWJveC1ib3gtYm94LTEyMw==
`

func newBench(t *testing.T, more ...client.Object) *bench {
	t.Helper()
	size := int32(5)
	more = append(more, &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "main"}, Spec: v1alpha1.EtcdSpec{Replicas: &size}})
	b := &bench{world: newWorld(t, more...), dir: t.TempDir(), nodes: map[string]*playedNode{}, worker: &playedWorker{}}
	var err error
	if b.key, err = snapshot.DeriveKey([]byte(secretsBundle)); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		name := fmt.Sprintf("cp-%d", n+1)
		b.nodes[name] = &playedNode{name: "node-" + name, address: fmt.Sprintf("192.0.2.%d:50000", n+1)}
	}
	b.worker.inspection = snapshot.Inspection{Revision: 400, Keys: 9, Sum: "sha256:" + strings.Repeat("b", 64)}
	for _, name := range restoreplan.WantedCRDs {
		b.worker.inspection.CRDs = append(b.worker.inspection.CRDs, snapshot.CRD{Name: name})
	}
	b.worker.inspection.Backups = []snapshot.Backup{{Namespace: "default", Name: "nightly", Spec: &snapshot.BackupSpec{Cluster: "quay", Secret: "keys", HasSecret: true}}}
	b.meta = snapshot.Meta{Schema: snapshot.MetaSchema, Name: shot, Cluster: "quay", Namespace: "default", Time: taken,
		Size: 4400, PlainSize: 4128, Sum: "sha256:" + strings.Repeat("a", 64), PlainSum: "sha256:" + strings.Repeat("b", 64), Quorate: "v1.2.0",
		KeyFingerprint: b.key.Fingerprint(), Authorities: snapshot.Fingerprints{Etcd: "sha256:e", K8s: "sha256:k", OS: "sha256:o"}}
	b.store(shot, b.sealed([]byte("a database of long ago")))
	b.p = &Preparer{
		Live: b.r.Live, Plane: b, Secrets: b.secrets, Worker: b.worker, Events: recorder{b.world}, Clock: b.clock, Log: logr.Discard(), Version: "v1.2.0",
		Dial:  func(_ *talos.Bundle, m *v1alpha1.TalosMachine) (Node, error) { return b.nodes[m.Name], nil },
		Probe: b.probe,
		Undo:  func(context.Context, Order) (string, error) { return "etcd-20300102T145900Z.snapshot.age", b.undo },
		Folder: func(types.NamespacedName) (*restore.Folder, error) {
			return restore.OpenFolder(b.dir, filepath.Join(b.dir, "keys"))
		},
		StoreAt: func(context.Context, string) (string, error) { return "", nil },
	}
	b.order = Order{Operation: order(), Cluster: quay(), Backup: nightly(), Store: b.at}
	return b
}

// Bundle implements Plane; nobody looks into it here.
func (b *bench) Bundle(context.Context, *v1alpha1.TalosCluster) (*talos.Bundle, error) {
	return nil, b.broken["bundle"]
}

// Machines implements Plane.
func (b *bench) Machines(ctx context.Context, namespace, _ string) ([]v1alpha1.TalosMachine, error) {
	var list v1alpha1.TalosMachineList
	err := b.api.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

func (b *bench) secrets(context.Context, *v1alpha1.TalosCluster) (Secrets, error) {
	return Secrets{Key: b.key, Authorities: snapshot.Fingerprints{Etcd: "sha256:e", K8s: "sha256:k", OS: "sha256:o"}}, nil
}

func (b *bench) probe(_ context.Context, _ *talos.Bundle, address string) (restore.Probe, error) {
	for i, n := range []string{"cp-1", "cp-2", "cp-3"} {
		if node := b.nodes[n]; node.address == address {
			id := uint64(i + 1)
			return restore.Probe{ClusterID: 7, MemberID: id, Revision: 900 + int64(i), Members: []guard.Member{{ID: id, PeerURLs: []string{"https://" + n + ":2380"}}}}, node.etcdErr
		}
	}
	return restore.Probe{}, errors.New("no such node")
}

func (b *bench) sealed(database []byte) []byte {
	b.t.Helper()
	var out bytes.Buffer
	if _, err := snapshot.Seal(&out, bytes.NewReader(whole(database)), b.key); err != nil {
		b.t.Fatal(err)
	}
	return out.Bytes()
}

func (b *bench) store(name string, data []byte) {
	b.t.Helper()
	if _, err := b.at.Put(b.t.Context(), name, bytes.NewReader(data)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) prepare() (*restore.Marker, error) {
	b.t.Helper()
	if b.meta.Name != "" {
		data, err := b.meta.Encode()
		if err != nil {
			b.t.Fatal(err)
		}
		b.store(snapshot.MetaName(shot), data)
	}
	return b.p.Prepare(b.t.Context(), b.order, func(context.Context) error { return b.broken["lock"] }, func(string) {})
}

// left are the files of the folder and the objects in the store besides the backup.
func (b *bench) left() (out []string) {
	b.t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for info, err := range b.at.List(b.t.Context(), "") {
		if err != nil {
			b.t.Fatal(err)
		}
		if info.Name != shot && info.Name != snapshot.MetaName(shot) {
			out = append(out, info.Name)
		}
	}
	return out
}
