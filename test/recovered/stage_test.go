package recovered

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/test/restored"
	"github.com/quorate/quorate/test/s3"
	"github.com/quorate/quorate/test/talos"
)

// shape is how a world is made that several tests share.
type shape struct {
	name    string
	options restored.Options
}

var (
	// single has one control plane, with the manager's pod on it, and a worker.
	single = &shape{"one control plane", restored.Options{ControlPlanes: 1, Workers: 1, Manager: "cp-1"}}
	// apart has three, and the manager on no machine.
	apart = &shape{"the controller outside", restored.Options{ControlPlanes: 3, Outside: true}}
)

// stage is a world with its object store, and a person's folder with the bundle in it.
type stage struct {
	*restored.World
	of         *shape
	dir        string
	objects    *s3.Server
	kubeconfig string
}

// current is the one world that runs.
var current *stage

// on answers the world of a shape, with a manager that serves, and starts it in the place of
// another one. No test gets a world that another one failed in.
func on(t *testing.T, s *shape) *stage {
	t.Helper()
	if current == nil || current.of != s {
		must(t, leave())
		began := time.Now()
		made, err := begin(within(t), s)
		must(t, err)
		current = made
		t.Logf("%s: ready after %s", s.name, time.Since(began).Round(100*time.Millisecond))
	}
	here := current
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(here.Logs())
			must(t, leave())
		}
	})
	must(t, here.ManagerReady(within(t)))
	return here
}

func begin(ctx context.Context, of *shape) (s *stage, err error) {
	s = &stage{of: of}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "quorate-recovered-"); err != nil {
		return nil, err
	}
	options := of.options
	options.Binary = os.Getenv(managerVariable)
	if s.World, err = restored.Start(ctx, options); err != nil {
		return nil, err
	}
	if s.objects, err = s.StartStore(ctx, filepath.Join(s.dir, "store")); err != nil {
		return nil, err
	}
	if s.kubeconfig, err = s.WriteKubeconfig(filepath.Join(s.dir, "kubeconfig")); err != nil {
		return nil, err
	}
	return s, os.WriteFile(filepath.Join(s.dir, "BUNDLE.yaml"), s.Talos.Bundle(), 0o600)
}

func (s *stage) end() (err error) {
	if s.World != nil {
		err = s.Stop()
	}
	if s.objects != nil {
		err = errors.Join(err, s.objects.Stop())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// leave ends the world that runs.
func leave() error {
	if current == nil {
		return nil
	}
	was := current
	current = nil
	return was.end()
}

// before has objects there that a snapshot holds, and takes it.
func (s *stage) before(t *testing.T) (snapshot string) {
	t.Helper()
	ctx := within(t)
	must(t, s.Write(ctx, "kept", "before"))
	must(t, s.Write(ctx, "deleted-by-mistake", "before"))
	must(t, s.Delete(ctx, "later"))
	snapshot, err := s.TakeBackup(ctx, restored.Backup)
	must(t, err)
	return snapshot
}

// after changes all of them.
func (s *stage) after(t *testing.T) {
	t.Helper()
	ctx := within(t)
	must(t, s.Write(ctx, "kept", "after"))
	must(t, s.Delete(ctx, "deleted-by-mistake"))
	must(t, s.Write(ctx, "later", "after"))
}

// rewound wants the objects as they were at the snapshot, untouched as they are after it.
func (s *stage) rewound(t *testing.T)   { t.Helper(); s.has(t, "before", "before", "") }
func (s *stage) untouched(t *testing.T) { t.Helper(); s.has(t, "after", "", "after") }

func (s *stage) has(t *testing.T, kept, deleted, later string) {
	t.Helper()
	for name, want := range map[string]string{"kept": kept, "deleted-by-mistake": deleted, "later": later} {
		got, is, err := s.Read(within(t), name)
		must(t, err)
		if got != want || is != (want != "") {
			t.Errorf("the object %s is there: %t, and says %q, want %q", name, is, got, want)
		}
	}
}

// unrecovered has a machine take no snapshot of etcd, as one that is not ready yet, until
// that is lifted.
func (s *stage) unrecovered(machine string) (lift func()) {
	return s.Talos.Node(machine).Fault(talos.Answer("EtcdRecover", status.Error(codes.FailedPrecondition, "etcd is not ready for it")))
}

// marker is that of the restore that is on its way; nil if none is.
func (s *stage) marker(t *testing.T) *restore.Marker {
	t.Helper()
	at, err := store.NewS3(s.objects.Options(restored.Cluster))
	must(t, err)
	m, _, err := (restore.Markers{Store: at}).Load(within(t))
	if errors.Is(err, restore.ErrNoMarker) {
		return nil
	}
	must(t, err)
	return m
}

// over wants that nothing of a restore is left in the store.
func (s *stage) over(t *testing.T) {
	t.Helper()
	at, err := store.NewS3(s.objects.Options(restored.Cluster))
	must(t, err)
	for o, err := range at.List(within(t), "etcd-restore") {
		must(t, err)
		t.Errorf("the store has %s still", o.Name)
	}
}

// wiped are the machines that were asked to reset since a number of calls, in order.
func (s *stage) wiped(since int) (out []string) {
	for _, c := range s.Calls("Reset")[since:] {
		out = append(out, c.Node)
	}
	return out
}

// gone waits until an object is not there any more.
func (s *stage) gone(t *testing.T, o client.Object) {
	t.Helper()
	until(t, o.GetName()+" to be gone", func(ctx context.Context) error {
		err := s.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		if err == nil {
			return fmt.Errorf("%w: it is there, deleted at %v, with the finalizers %q", errNotYet, o.GetDeletionTimestamp(), o.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}
