package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

var (
	nightly = types.NamespacedName{Namespace: "default", Name: "nightly"}
	// start is half an hour before the first snapshot is due.
	start = time.Date(2030, 1, 2, 11, 30, 0, 0, time.UTC)
	// errKilled is what a process that is dead gets of every call.
	errKilled = errors.New("killed")
)

var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

// world is an API server, three control planes and a store in a folder. Each call that
// leaves the process goes through call.
type world struct {
	t     *testing.T
	dir   string
	disk  store.Store
	api   client.WithWatch
	clock *clocktesting.FakePassiveClock
	*process

	// content is what etcd holds, revision its last.
	content  string
	revision int64
	// broken is what a call of that name answers.
	broken map[string]error
	// stream may change what a machine sends.
	stream func(machine string, r io.Reader) io.Reader
	// stored may be told of each object that was put.
	stored func(name string)
	events []string
	asked  []string
}

// process is one of the manager's.
type process struct {
	r         *Reconciler
	mu        sync.Mutex
	calls     []string
	killAt    int
	killAfter bool
	dead      bool
}

func newWorld(t *testing.T, edits ...func(*v1alpha1.TalosEtcdBackup)) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	bundle, err := bundleYAML()
	if err := errors.Join(err, clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.TalosEtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly", UID: "b-1", Generation: 2, CreationTimestamp: metav1.NewTime(start)},
		Spec:       v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Schedule: "0 * * * *", Retention: 3},
	}
	for _, edit := range edits {
		edit(b)
	}
	objects := []client.Object{b,
		&v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay"}, Spec: v1alpha1.TalosClusterSpec{SecretsBundleRef: v1alpha1.LocalRef{Name: "quay-secrets"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay-secrets"}, Data: map[string][]byte{"bundle": bundle}},
	}
	for n := range 3 {
		objects = append(objects, &v1alpha1.TalosMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("cp-%d", n+1)},
			Spec:       v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Approved: true},
		})
	}
	w := &world{
		t: t, dir: t.TempDir(), clock: clocktesting.NewFakePassiveClock(start), content: "first", revision: 100, broken: map[string]error{},
		api:    fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(b).WithObjects(objects...).Build(),
		stream: func(_ string, r io.Reader) io.Reader { return r },
	}
	if w.disk, err = store.NewFolder(w.dir); err != nil {
		t.Fatal(err)
	}
	w.restart()
	return w
}

// restart begins a process with nothing in its memory.
func (w *world) restart() {
	w.process = &process{}
	api := interceptor.NewClient(w.api, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.call("patch "+sub, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
	w.r = &Reconciler{
		Client: api, Live: api, Events: recorder{w}, Clock: w.clock, Log: testr.New(w.t), Version: "v1.2.3", Scratch: w.t.TempDir(),
		Plane: controlplane.New(api, talos.Timeouts{}), Source: w.source, Inspector: w,
		Stores: func(context.Context, *v1alpha1.TalosEtcdBackup) (store.Store, error) {
			return &mortal{w.disk, w}, w.broken["settings"]
		},
	}
}

// call lets a call out, unless the process is dead.
func (w *world) call(what string, act func() error) error {
	p := w.process
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errKilled
	}
	p.calls = append(p.calls, what)
	dies := len(p.calls) == p.killAt
	p.dead = dies
	p.mu.Unlock()
	if dies && !p.killAfter {
		return errKilled
	}
	err := w.broken[what]
	if err == nil {
		err = act()
	}
	if dies {
		return errKilled
	}
	return err
}

// plain is what etcd sends: a database and its sum.
func (w *world) plain() []byte {
	database := fmt.Appendf(nil, "%d\n%s", w.revision, strings.Repeat(w.content, 10000))
	database = append(database, make([]byte, 4096-len(database)%4096)...) // pages
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}

func (w *world) source(_ context.Context, _ *talos.Bundle, m *v1alpha1.TalosMachine) (io.ReadCloser, error) {
	var out io.ReadCloser
	err := w.call("stream "+m.Name, func() error {
		w.asked = append(w.asked, m.Name)
		out = io.NopCloser(w.stream(m.Name, bytes.NewReader(w.plain())))
		return nil
	})
	return out, err
}

// Inspect reads what plain wrote.
func (w *world) Inspect(_ context.Context, path string) (found snapshot.Inspection, err error) {
	err = w.call("inspect", func() error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(data, []byte(w.content)) {
			return fmt.Errorf("%w: no database", snapshot.ErrDamaged)
		}
		sum := sha256.Sum256(data)
		found = snapshot.Inspection{Keys: 12, Members: []snapshot.Member{{Name: "cp-1"}, {Name: "cp-2"}}, Size: int64(len(data)), Sum: fmt.Sprintf("sha256:%x", sum)}
		_, err = fmt.Sscanf(string(data), "%d\n", &found.Revision)
		return err
	})
	return found, err
}

// recorder keeps events.
type recorder struct{ *world }

func (r recorder) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.events = append(r.events, kind+" "+reason+": "+fmt.Sprintf(note, args...))
}

func (w *world) took() []string {
	out := w.events
	w.events = nil
	return out
}

func (w *world) reconcile() reconcile.Result {
	w.t.Helper()
	result, err := w.try()
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w *world) try() (reconcile.Result, error) {
	return w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: nightly})
}

func (w *world) to(hour, minute int) {
	w.clock.SetTime(time.Date(2030, 1, 2, hour, minute, 0, 0, time.UTC))
}

func (w *world) backup() *v1alpha1.TalosEtcdBackup {
	w.t.Helper()
	b := &v1alpha1.TalosEtcdBackup{}
	if err := w.api.Get(w.t.Context(), nightly, b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// listed are the names in the status.
func (w *world) listed() (out []string) {
	for _, s := range w.backup().Status.Snapshots {
		out = append(out, s.Name)
	}
	return out
}

// files are the names in the store.
func (w *world) files() (out []string) {
	w.t.Helper()
	for info, err := range w.disk.List(w.t.Context(), "") {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, info.Name)
	}
	return out
}

// aged has every file of the store be as old as its name says, by the world's clock.
func (w *world) aged() {
	w.t.Helper()
	for _, name := range w.files() {
		at := w.clock.Now()
		if of, ok := snapshotOf(name); ok {
			at, _ = snapshot.ParseName(of)
		} else if named, ok := snapshot.ParseName(name); ok {
			at = named
		}
		w.touch(name, at)
	}
}

func (w *world) touch(name string, at time.Time) {
	w.t.Helper()
	if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(name, content string) {
	w.t.Helper()
	if _, err := w.disk.Put(w.t.Context(), name, strings.NewReader(content)); err != nil {
		w.t.Fatal(err)
	}
}
