package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// Access is what a job needs besides its marker; it is kept in the folder of keys.
type Access struct {
	// Bundle is the Talos secrets bundle in YAML, Store how the object store is reached.
	Bundle []byte
	Store  store.Options
}

// Names of the keys.
const (
	keyBundle = "bundle"
	keyStore  = "store"
)

// Options say where and as whom jobs run.
type Options struct {
	// Dir has a folder for each restore, KeysDir one for its keys: in memory, where the
	// pod gives it.
	Dir, KeysDir string
	// Identity is this process, where a folder has none to give.
	Identity string
	// NodeName is the Node that this process runs on; empty outside of the cluster.
	NodeName string
	Clock    clock.PassiveClock
	Log      logr.Logger
	Limits   restore.Limits
	// Open makes what a job reaches the world with. It is Open of this package unless a
	// test has another one.
	Open func(Access) (*World, error)
	// Changed is told when a cluster's job begins or ends; it must not block.
	Changed func(cluster types.NamespacedName, running bool)
}

// Jobs are the restores of this process. Safe for many at once.
type Jobs struct {
	o   Options
	ctx context.Context
	// stop ends all jobs; the folders stay.
	stop context.CancelFunc

	mu sync.Mutex
	of map[types.NamespacedName]*running
}

// running is one job.
type running struct {
	cancel   context.CancelFunc
	done     chan struct{}
	progress restore.Progress
	result   restore.Result
	err      error
}

// State is how a job is.
type State struct {
	Running  bool
	Progress restore.Progress
	// Result and Err are of one that has ended.
	Result restore.Result
	Err    error
}

// New makes the folders. No job runs yet.
func New(o Options) (*Jobs, error) {
	if o.Open == nil {
		o.Open = Open
	}
	for _, d := range []string{o.Dir, o.KeysDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of restores: %w", err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Jobs{o: o, ctx: ctx, stop: stop, of: map[types.NamespacedName]*running{}}, nil
}

// Folder is the cluster's.
func (j *Jobs) Folder(cluster types.NamespacedName) (*restore.Folder, error) {
	name := cluster.Namespace + "_" + cluster.Name // an underscore is in neither
	return restore.OpenFolder(filepath.Join(j.o.Dir, name), filepath.Join(j.o.KeysDir, name))
}

// Start runs the job of a cluster's marker, unless it runs already. What it needs is kept
// in the folder first.
func (j *Jobs) Start(cluster types.NamespacedName, a Access, m *restore.Marker) error {
	folder, err := j.Folder(cluster)
	if err != nil {
		return err
	}
	if err := keepKeys(folder, a); err != nil {
		return err
	}
	return j.run(cluster, folder, a, m)
}

// Resume starts the jobs that a process before this one has left in the folders. It asks
// nobody. A folder that cannot be used is told of, and stops nothing.
func (j *Jobs) Resume() {
	entries, err := os.ReadDir(j.o.Dir)
	if err != nil {
		j.o.Log.Error(err, "the folder of restores cannot be read")
		return
	}
	for _, e := range entries {
		cluster, ok := clusterOf(e)
		if !ok {
			continue
		}
		if err := j.resume(cluster); err != nil {
			j.o.Log.Error(err, "a restore that this folder has begun is not gone on with", "cluster", cluster.String())
		}
	}
}

func (j *Jobs) resume(cluster types.NamespacedName) error {
	folder, err := j.Folder(cluster)
	if err != nil {
		return err
	}
	m, err := folder.Marker()
	if errors.Is(err, restore.ErrNoMarker) {
		return folder.Erase() // nothing was begun; what was staged is in plain
	}
	if err != nil {
		return err
	}
	a, err := keptKeys(folder)
	if err != nil {
		return err
	}
	j.o.Log.Info("a restore goes on from its folder", "cluster", cluster.String())
	return j.run(cluster, folder, a, m)
}

func keepKeys(f *restore.Folder, a Access) error {
	settings, err := json.Marshal(a.Store)
	if err != nil {
		return fmt.Errorf("keep the settings of the object store: %w", err)
	}
	if err := f.PutKey(keyBundle, a.Bundle); err != nil {
		return err
	}
	return f.PutKey(keyStore, settings)
}

func keptKeys(f *restore.Folder) (a Access, err error) {
	if a.Bundle, err = f.Key(keyBundle); err != nil {
		return a, err
	}
	settings, err := f.Key(keyStore)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(settings, &a.Store); err != nil {
		return a, fmt.Errorf("read the settings of the object store: %w", err)
	}
	return a, nil
}
