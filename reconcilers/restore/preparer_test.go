package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

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
	if got := b.left(); !slices.Equal(got, []string{"identity", "marker.json", "snapshot.db", m.Pinned.Object(), restore.MarkerName}) {
		t.Errorf("what is at hand: %q", got)
	}
}

// pinnedIs reads the copy in the store, and compares it with the marker.
func (b *bench) pinnedIs(m *restore.Marker, database string) {
	b.t.Helper()
	if m.Pinned.Name == "" {
		b.t.Error("the copy has no name of its own")
	}
	r, _, err := b.at.Get(b.t.Context(), m.Pinned.Name)
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
			b.order.Marker = &restore.Marker{Operation: restore.Operation{Name: "other"}, Snapshot: restore.Snapshot{Name: "the-other-one"}, Step: v1alpha1.StepRecovering}
		}, "The store of backup nightly has the marker of another restore: operation other, at Recovering. Let that one end, or finish it: " + strings.Replace(recoverLine, shot, "the-other-one", 1)},
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
		{"its backup in another store", func(b *bench) { b.worker.inspection.Backups[0].Spec.Bucket = "old" },
			"In the snapshot backup nightly points to another store: its bucket is left out now and was old then. After the rewind the controllers would look for the marker of this restore there, and would not end it. "},
		{"without its backup", func(b *bench) { b.worker.inspection.Backups[0].Namespace = "other" },
			"The snapshot has no TalosEtcdBackup nightly of cluster quay in namespace default: "},
		{"without its credentials", func(b *bench) { b.worker.inspection.Backups[0].Spec.HasSecret = false },
			"The snapshot has no Secret default/keys, by which backup nightly reaches its store there: "},
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

// A backup that cannot be read in the snapshot, as it is encrypted there, stops nothing; a
// person is warned.
func TestUnreadableBackup(t *testing.T) {
	b := newBench(t)
	b.worker.inspection.Backups[0].Spec = nil
	if m, err := b.prepare(); err != nil || m == nil {
		t.Fatalf("marker %v, %v", m, err)
	}
	const want = "What the snapshot says of backup nightly could not be read"
	if got := b.told("TalosOperation", "Warning", v1alpha1.ReasonRestoreDoubtful); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q; all: %q", got, want, b.events)
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

// A refusal that names the command ends with it: nothing comes after its last word.
//
// covers: C-35
func TestRefusalEndsWithTheCommand(t *testing.T) {
	w := newWorld(t)
	w.prep = func(Order) (*restore.Marker, error) {
		return nil, blockedBy([]restoring.Block{{Message: "Restore from another machine: " + recoverLine}})
	}
	w.look()
	if got, want := w.op().Status.FailureReason, unchanged+"Restore from another machine: "+recoverLine; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

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
	if got := m.Owner.Expires.Sub(m.StartedAt); got != restore.DefaultHold {
		t.Errorf("it is held for %s, want %s", got, restore.DefaultHold)
	}
}

// The first hold of a restore is as long as those that follow.
func TestHoldOfMarker(t *testing.T) {
	b := newBench(t)
	b.p.Hold = time.Minute
	m, err := b.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Owner.Expires.Sub(m.StartedAt); got != time.Minute {
		t.Errorf("it is held for %s, want 1m", got)
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
