package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
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
func (n *playedNode) MemberID(context.Context) (uint64, error)  { return 1, n.err }
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
	for _, plural := range wanted {
		b.worker.inspection.CRDs = append(b.worker.inspection.CRDs, snapshot.CRD{Name: plural + ".quorate.dev"})
	}
	b.meta = snapshot.Meta{Schema: snapshot.MetaSchema, Name: shot, Cluster: "quay", Namespace: "default", Time: taken,
		Size: 4400, PlainSize: 4128, Sum: "sha256:" + strings.Repeat("a", 64), PlainSum: "sha256:" + strings.Repeat("b", 64), Quorate: "v1.2.0",
		KeyFingerprint: b.key.Fingerprint(), Authorities: snapshot.Fingerprints{Etcd: "sha256:e", K8s: "sha256:k", OS: "sha256:o"}}
	b.store(shot, b.sealed([]byte("a database of long ago")))
	b.p = &Preparer{
		Live: b.r.Live, Plane: b, Secrets: b.secrets, Worker: b.worker, Clock: b.clock, Log: logr.Discard(), Version: "v1.2.0",
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

// What a restore needs is at hand before the marker is: the resealed snapshot in the
// folder and, encrypted, in the store; who has to be wiped, and how; where the controller
// runs.
//
// covers: C-10, C-11, C-19, C-42
func TestPrepare(t *testing.T) {
	b := newBench(t, ready("node-cp-1"))
	b.p.NodeName = "node-cp-1" // no machine has a hostname: it is told by what Talos reports
	m, err := b.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if m.Own != "cp-1" || m.Target != "cp-2" || m.Step != v1alpha1.StepWiping || m.Pinned.Floor != 902+leap || m.Pinned.Undo != "etcd-20300102T145900Z.snapshot.age" {
		t.Errorf("own %s, target %s, step %s, pinned %+v", m.Own, m.Target, m.Step, m.Pinned)
	}
	want := "[{cp-1 node-cp-1 192.0.2.1:50000 controlplane 1 [https://cp-1:2380] boot-node-cp-1 [ETCD]"
	if got := fmt.Sprintf("%v", m.Nodes); !strings.HasPrefix(got, want) || len(m.Nodes) != 3 {
		t.Errorf("nodes are %s, want them to begin with %s", got, want)
	}
	if len(m.Etcds) != 1 || m.Etcds[0] != (restore.EtcdSize{Namespace: "apps", Name: "main", Replicas: 5}) {
		t.Errorf("sizes of Etcds: %+v", m.Etcds)
	}
	b.pinnedIs(m, "resealed a database of long ago")
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"c2VjcmV0", "AGE-SECRET", "a database of long ago"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the marker holds %q", secret)
		}
	}
	if got := b.left(); !slices.Equal(got, []string{"identity", "marker.json", "snapshot.db", restore.MarkerName, restore.PinnedName}) {
		t.Errorf("what is at hand: %q", got)
	}
}

// pinnedIs reads the copy in the store, and compares it with the marker.
func (b *bench) pinnedIs(m *restore.Marker, database string) {
	b.t.Helper()
	r, _, err := b.at.Get(b.t.Context(), restore.PinnedName)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		b.t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("long ago")) {
		b.t.Error("the copy in the store is in clear")
	}
	plain, err := snapshot.Open(bytes.NewReader(raw), b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := io.ReadAll(plain)
	if err != nil {
		b.t.Fatal(err)
	}
	sum, sealed := sha256.Sum256(got), sha256.Sum256(raw)
	if !bytes.HasPrefix(got, []byte(database)) || m.Pinned.PlainSum != fmt.Sprintf("%x", sum) || m.Pinned.Sum != fmt.Sprintf("%x", sealed) || m.Pinned.Size != int64(len(raw)) {
		b.t.Errorf("the copy is %q, and the marker says %+v", got[:20], m.Pinned)
	}
}

const recoverLine = "quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3:// --snapshot " + shot + " --node-endpoint 192.0.2.1 --node-endpoint 192.0.2.2 --node-endpoint 192.0.2.3"

// Whatever cannot work is refused before anything is touched, with its own sentence, and
// nothing is left behind.
//
// covers: C-8, C-9
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		label string
		spoil func(b *bench)
		want  string
	}{
		{"confirm wrong", func(b *bench) { b.order.Operation.Spec.EtcdRestore.Confirm = "wharf" },
			`The name given is "wharf", and the cluster that would be rewound is quay. Give quay if that is the one you mean.`},
		{"backup of another cluster", func(b *bench) { b.order.Backup.Spec.ClusterRef.Name = "wharf" },
			"Backup nightly is of cluster wharf, and quay would be restored. Name a backup whose spec.clusterRef is quay."},
		{"not listed", func(b *bench) { b.meta.Name = "" },
			"Backup nightly has no whole snapshot " + shot + ". Take one of those that quorate backup list shows."},
		{"marker of another restore", func(b *bench) {
			b.order.Marker = &restore.Marker{Operation: restore.Operation{Name: "other"}, Step: v1alpha1.StepRecovering}
		}, "The store of backup nightly has the marker of another restore: operation other, at Recovering. Let that one end, or finish it: " + recoverLine},
		{"changed CA", func(b *bench) { b.meta.Authorities.Etcd = "sha256:older" },
			"The etcd CA is sha256:e now and was sha256:older at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA."},
		{"newer Quorate", func(b *bench) { b.meta.Quorate = "v1.3.0" },
			"The snapshot was taken by Quorate v1.3.0, and this is v1.2.0: its objects may say what this version does not understand. Upgrade Quorate first."},
		{"node silent", func(b *bench) { b.nodes["cp-2"].err = errors.New("no answer from the node") },
			"Control plane cp-2 cannot be restored as it is: no answer from the node. Heal it, or take it out of the cluster first."},
		{"data unreadable", func(b *bench) { b.nodes["cp-3"].unread = errors.New("permission denied") },
			"Control plane cp-3 cannot be restored as it is: permission denied. Heal it, or take it out of the cluster first."},
		{"a node of another cluster", func(b *bench) { b.nodes["cp-3"].other = errors.New("it is of another Talos cluster") },
			"Control plane cp-3 cannot be restored as it is: it is of another Talos cluster. Heal it, or take it out of the cluster first."},
		{"etcd silent", func(b *bench) { b.nodes["cp-1"].etcdErr = errors.New("no quorum") },
			"Control plane cp-1 cannot be restored as it is: ask its etcd: no quorum. Heal it, or take it out of the cluster first."},
		{"store in this cluster", func(b *bench) {
			b.p.StoreAt = func(context.Context, string) (string, error) { return "Service storage/objects", nil }
		}, "The store of backup nightly seems to run in this cluster (Service storage/objects), and would be away just when it is needed. Copy its snapshots to a place outside and restore from there: " + recoverLine},
		{"store ignores conditions", func(b *bench) { b.order.Store = unconditional{b.at} },
			"The store of backup nightly ignores conditional writes, so that it cannot keep two restores apart. Use a store that honours them, or set allowUnconditionalStore and be sure that no other restore runs."},
		{"cut", func(b *bench) { b.store(shot, b.sealed([]byte("a database"))[:200]) }, "read and check " + shot + ": decrypt the snapshot: the snapshot is damaged"},
		{"empty", func(b *bench) { b.store(shot, nil) }, "decrypt " + shot + ": "},
		{"damaged inside", func(b *bench) { b.worker.err = fmt.Errorf("%w: the child died", snapshot.ErrDamaged) }, "the snapshot is damaged: the child died"},
		{"without a definition", func(b *bench) { b.worker.inspection.CRDs = b.worker.inspection.CRDs[1:] },
			"The snapshot has not the CRDs of this version: etcds.quorate.dev. The controller could not start after the rewind. Take a later snapshot, or install the Quorate of then first."},
		{"another one under its name", func(b *bench) { b.worker.inspection.Sum = "sha256:other" },
			shot + " is another snapshot than the one that is described beside it: its sum is sha256:other, and sha256:" + strings.Repeat("b", 64) + " is written there"},
		{"no way back", func(b *bench) { b.undo = errors.New("nobody gives one") },
			"take a snapshot that leads back (set withoutUndo to do without): nobody gives one"},
		{"lock lost", func(b *bench) { b.broken["lock"] = errors.New("the lock is lost") }, "the lock is lost"},
		{"bundle broken", func(b *bench) { b.broken["bundle"] = talos.ErrBundle }, talos.ErrBundle.Error()},
		{"another order before it", func(b *bench) {
			first := order()
			first.Name, first.CreationTimestamp = "first", metav1.NewTime(taken)
			first.ResourceVersion = ""
			if err := b.api.Create(b.t.Context(), first); err != nil {
				b.t.Fatal(err)
			}
		}, "Operation first of cluster quay is unfinished (Pending). Wait until its phase is Completed, or delete it if it must not run."},
	} {
		b := newBench(t)
		c.spoil(b)
		_, err := b.prepare()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.label, err, c.want)
		}
		if got := b.left(); len(got) > 0 {
			t.Errorf("%s: left behind: %q", c.label, got)
		}
	}
}

// Another restore's folder and copy are its own: who is refused leaves them alone, also
// if that one began a moment ago.
func TestOtherRestoreIsLeftAlone(t *testing.T) {
	b := newBench(t)
	theirs := b.marker(order())
	folder, err := b.p.Folder(types.NamespacedName{})
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.SaveMarker(theirs); err != nil {
		t.Fatal(err)
	}
	b.order.Marker = theirs
	if _, err := b.prepare(); !errors.Is(err, errBlocked) {
		t.Errorf("beside a known marker: %v", err)
	}
	if _, err := folder.Marker(); err != nil {
		t.Errorf("its folder: %v", err)
	}
	b.order.Marker = nil // it was not there yet when this one looked
	if _, err := b.prepare(); !errors.Is(err, errBlocked) {
		t.Errorf("beside a marker that has just come: %v", err)
	}
	data, _, err := store.ReadSmall(t.Context(), b.at, restore.PinnedName)
	if err != nil || string(data) != "ciphertext" {
		t.Errorf("its copy is %q, %v", data, err)
	}
}

// unconditional ignores conditions.
type unconditional struct{ store.Store }

func (unconditional) Probe(context.Context) error { return store.ErrUnconditional }

// covers: C-35
func TestOnlyControlPlane(t *testing.T) {
	b := newBench(t, ready("node-cp-1"))
	b.p.NodeName = "node-cp-1"
	b.remove(plane(2))
	b.remove(plane(3))
	_, err := b.prepare()
	want := "cp-1 is the only control plane, and the controller runs on it: its wipe would end the controller before etcd is recovered. Restore from another machine: " +
		strings.TrimSuffix(recoverLine, " --node-endpoint 192.0.2.2 --node-endpoint 192.0.2.3")
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// A marker whose write was not answered is one that was written, if the store has it.
func TestMarkerAnswerIsLost(t *testing.T) {
	b := newBench(t)
	b.order.Store = &lossy{Store: b.at}
	m, err := b.prepare()
	if err != nil || m.Target != "cp-1" {
		t.Fatalf("marker %v, %v", m, err)
	}
	if got := restoring.Target(m.Nodes, ""); got != "cp-1" {
		t.Errorf("target %s", got)
	}
}

// lossy acts, and does not say so.
type lossy struct{ store.Store }

func (l *lossy) Create(ctx context.Context, name string, data []byte) (store.Version, error) {
	if _, err := l.Store.Create(ctx, name, data); err != nil {
		return "", err
	}
	return "", store.ErrUnreachable
}
