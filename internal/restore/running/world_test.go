package running

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

const (
	shot  = "etcd-20300102T150405Z.snapshot.age"
	floor = 1_000_000_000
)

var quay = types.NamespacedName{Namespace: "default", Name: "quay"}

// world is a store in a folder and one control plane, which has etcd data for ever.
type world struct {
	t  *testing.T
	at store.Store

	mu       sync.Mutex
	resets   []string // who asked for them
	silent   bool
	revision int64 // of etcd; 0 while it does not answer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	at, err := store.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, at: at}
}

// node is the control plane as a process sees it.
type node struct {
	restore.NodeClient // what is not asked here
	w                  *world
	by                 string
}

var errSilent = errors.New("no answer from the node")

func (n node) Node(string) (restore.NodeClient, error) { return n, nil }

func (n node) BootID(context.Context) (string, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if n.w.silent {
		return "", errSilent
	}
	return "boot-1", nil
}

func (n node) HasEtcdData(context.Context) (bool, error)           { return true, nil }
func (n node) Members(context.Context) (m []guard.Member, _ error) { return m, nil }

func (n node) Reset(context.Context, []string) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.w.resets = append(n.w.resets, n.by)
	return nil
}

func (n node) Probe(context.Context, string) (p restore.Probe, err error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if p.Revision = n.w.revision; p.Revision == 0 {
		err = errSilent
	}
	return p, err
}

func (w *world) wiped() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.resets...)
}

// process is one with folders of its own.
type process struct {
	*Jobs
	dir     string
	mu      sync.Mutex
	changes []bool
	opened  []Access
}

// begins makes a process, in the folders of another one or in new ones.
func (w *world) begins(name, dir string) *process {
	w.t.Helper()
	if dir == "" {
		dir = w.t.TempDir()
	}
	p := &process{dir: dir}
	jobs, err := New(Options{
		Dir: filepath.Join(dir, "jobs"), KeysDir: filepath.Join(dir, "keys"), Identity: name, Clock: clock.RealClock{}, Log: logr.Discard(),
		Limits: restore.Limits{Poll: 10 * time.Millisecond},
		Open: func(a Access) (*World, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.opened = append(p.opened, a)
			n := node{w: w, by: name}
			return &World{Nodes: n, Etcd: n, Store: w.at, Decrypt: func(r io.Reader) (io.Reader, error) { return r, nil }, Close: func() error { return nil }}, nil
		},
		Changed: func(_ types.NamespacedName, running bool) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changes = append(p.changes, running)
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p.Jobs = jobs
	w.t.Cleanup(jobs.Stop)
	return p
}

// orders has a restore prepared in a process: what is staged, its marker and the store's.
func (w *world) orders(p *process) *restore.Marker {
	w.t.Helper()
	folder, err := p.Folder(quay)
	if err != nil {
		w.t.Fatal(err)
	}
	identity, err := folder.Identity()
	if err != nil {
		w.t.Fatal(err)
	}
	const plain, sum = "plaintext", "96d62e2abd3e42de5f50330fb8efc4c5599835278077b21e9aa0b33c1df07a1c"
	if err := folder.Stage(strings.NewReader(plain)); err != nil {
		w.t.Fatal(err)
	}
	now := time.Now()
	m := &restore.Marker{
		Schema: restore.Schema, Fence: 1, Owner: restore.Owner{Identity: identity, Expires: now.Add(restore.DefaultHold)}, Cluster: "quay",
		Snapshot: restore.Snapshot{Name: shot}, Pinned: restore.Pinned{PlainSum: sum, Floor: floor}, Step: v1alpha1.StepWiping, StartedAt: now, LimitsFrom: now,
		Nodes: []restoring.Node{{Machine: "cp-1", NodeName: "cp-1", Address: "192.0.2.1", Role: v1alpha1.MachineControlPlane}}, Target: "cp-1", Epoch: 7,
	}
	if err := folder.SaveMarker(m); err != nil {
		w.t.Fatal(err)
	}
	w.puts(restore.PinnedName)
	if _, err := (restore.Markers{Store: w.at}).Create(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) puts(name string) {
	w.t.Helper()
	if _, err := w.at.Put(w.t.Context(), name, strings.NewReader("plaintext")); err != nil {
		w.t.Fatal(err)
	}
}

// plain are the files of a process's folders, but for those that say whose they are.
func (p *process) plain(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits for a condition, and says what was missing.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("waited 20s for %s", what)
		case <-tick.C:
		}
	}
}
