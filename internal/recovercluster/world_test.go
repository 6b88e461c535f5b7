package recovercluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/etcd"
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bundleYAML is a real secrets bundle.
var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

// database is a snapshot of etcd's own store with a few revisions.
func database(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	c := backend.DefaultBackendConfig(zap.NewNop())
	c.Path, c.UnsafeNoFsync = path, true
	b := backend.New(c)
	kv := mvcc.NewStore(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{})
	schema.NewMembershipBackend(zap.NewNop(), b).MustCreateBackendBuckets()
	for i := range 10 {
		kv.Put([]byte(fmt.Sprintf("/registry/pods/shop/p%d", i)), []byte("x"), lease.NoLease)
	}
	kv.Commit()
	must(t, kv.Close())
	must(t, b.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// nodes are control planes whose etcd holds the old data. They reset, take a snapshot and
// found etcd at once.
type nodes struct {
	mu     sync.Mutex
	boots  map[string]int
	data   map[string]bool
	up     map[string]bool
	shut   map[string]bool // those whose etcd nobody gets to
	mute   map[string]bool // those that do not answer any more
	asked  []string
	upload int64
	// old is the revision of an etcd that was not recovered.
	old       int64
	recovered bool
	// revision is what the recovered etcd begins with, once it is known.
	revision func() int64
}

func newNodes(addresses ...string) *nodes {
	n := &nodes{boots: map[string]int{}, data: map[string]bool{}, up: map[string]bool{}, mute: map[string]bool{}, shut: map[string]bool{}}
	for _, a := range addresses {
		n.data[a] = true
	}
	return n
}

func (n *nodes) Node(address string) (restore.NodeClient, error) { return nodeAt{n, address}, nil }

func (n *nodes) Probe(_ context.Context, address string) (restore.Probe, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shut[address] {
		return restore.Probe{}, fmt.Errorf("dial: %w", etcd.ErrUnreached)
	}
	if !n.up[address] {
		return restore.Probe{}, errors.New("no etcd answers")
	}
	members := n.members()
	for _, m := range members {
		if m.Name == "node-"+address {
			p := restore.Probe{ClusterID: 9, MemberID: m.ID, Revision: n.old, Members: members}
			if n.recovered {
				p.Revision = n.revision()
			}
			return p, nil
		}
	}
	return restore.Probe{}, errors.New("it is no member")
}

func (n *nodes) members() (out []guard.Member) {
	for _, a := range []string{"192.0.2.11", "192.0.2.12", "192.0.2.13"} {
		if n.up[a] {
			out = append(out, guard.Member{ID: uint64(len(out) + 1), Name: "node-" + a, PeerURLs: []string{"https://" + a + ":2380"}, Started: true, Healthy: true})
		}
	}
	return out
}

type nodeAt struct {
	*nodes
	at string
}

func (n nodeAt) do(what string, f func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, what+" "+n.at)
	f()
	return nil
}

func (n nodeAt) BootID(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mute[n.at] {
		return "", errors.New("it does not answer")
	}
	return fmt.Sprintf("%s boot %d", n.at, n.boots[n.at]), nil
}

func (n nodeAt) HasEtcdData(context.Context) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.data[n.at], nil
}

func (n nodeAt) Members(context.Context) ([]guard.Member, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.nodes.members(), nil
}
func (n nodeAt) EtcdService(context.Context) (restoring.Service, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.up[n.at] {
		return restoring.Service{State: "Failed"}, nil
	}
	return restoring.Service{State: "Running", Healthy: true, MemberID: 1, Members: n.nodes.members()}, nil
}
func (n nodeAt) Alarms(context.Context) ([]string, error)  { return nil, nil }
func (n nodeAt) ForfeitLeadership(context.Context) error   { return n.do("forfeit", func() {}) }
func (n nodeAt) Leave(context.Context) error               { return n.do("leave", func() {}) }
func (n nodeAt) RestartKubelet(context.Context) error      { return n.do("kubelet", func() {}) }
func (n nodeAt) NodeName(context.Context) (string, error)  { return "node-" + n.at, nil }
func (n nodeAt) Volumes(context.Context) ([]string, error) { return []string{"ETCD"}, nil }
func (n nodeAt) Reset(context.Context, []string) error {
	return n.do("reset", func() { n.boots[n.at]++; n.data[n.at], n.up[n.at] = false, false })
}
func (n nodeAt) Recover(_ context.Context, r io.Reader) error {
	size, err := io.Copy(io.Discard, r)
	if err != nil {
		return err
	}
	return n.do("recover", func() { n.upload = size })
}

// Bootstrap also has the others join, as they do by themselves.
func (n nodeAt) Bootstrap(context.Context) error {
	return n.do("bootstrap", func() {
		n.recovered = true
		for a := range n.data {
			n.data[a], n.up[a] = true, !n.mute[a]
		}
	})
}

const taken = "etcd-20300102T150405Z.snapshot.age"

// world is a store with one snapshot that is whole, and three control planes.
func world(t *testing.T) (*Recovery, *nodes) {
	t.Helper()
	data, err := bundleYAML()
	must(t, err)
	key, err := snapshot.DeriveKey(data)
	must(t, err)
	found, err := snapshot.Authorities(data)
	must(t, err)
	dir := t.TempDir()
	at, err := store.NewFolder(filepath.Join(dir))
	must(t, err)
	folder, err := restore.OpenFolder(filepath.Join(t.TempDir(), "job"), filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	sealed := seal(t, at, key)
	meta := snapshot.Meta{Name: taken, Cluster: "prod", Namespace: "default", Time: time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC), Revision: 11,
		Size: sealed.Size, PlainSize: sealed.PlainSize, Sum: sealed.Sum, PlainSum: sealed.PlainSum, Authorities: found, KeyFingerprint: key.Fingerprint(), Quorate: "v1.0.0"}
	text, err := meta.Encode()
	must(t, err)
	_, err = at.Create(t.Context(), snapshot.MetaName(taken), text)
	must(t, err)
	n := newNodes("192.0.2.11", "192.0.2.12", "192.0.2.13")
	r := &Recovery{
		Store: at, Key: key, Authorities: restoring.Authorities{Etcd: found.Etcd, Kubernetes: found.K8s, OS: found.OS}, Nodes: n, Etcd: n, Folder: folder,
		Snapshot: taken, Endpoints: []string{"192.0.2.11", "192.0.2.12", "192.0.2.13"}, Requester: "alice", Quorate: "v1.0.0", Now: time.Now,
		Limits: restore.Limits{Poll: time.Millisecond},
	}
	n.revision = func() int64 {
		m, _, err := restore.Markers{Store: at}.Load(t.Context())
		if err != nil {
			return 0
		}
		return m.Pinned.Floor + 1
	}
	return r, n
}

func seal(t *testing.T, at store.Store, key *snapshot.Key) snapshot.Sealed {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sealed")
	file, err := os.Create(path)
	must(t, err)
	sealed, err := snapshot.Seal(file, bytes.NewReader(database(t)), key)
	must(t, err)
	must(t, file.Close())
	file, err = os.Open(path)
	must(t, err)
	defer func() { must(t, file.Close()) }()
	_, err = at.Put(t.Context(), taken, file)
	must(t, err)
	return sealed
}
