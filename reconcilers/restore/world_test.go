package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

var (
	start   = time.Date(2030, 1, 2, 15, 0, 0, 0, time.UTC)
	rewind  = types.NamespacedName{Namespace: "default", Name: "rewind"}
	taken   = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	errDied = errors.New("the process is dead")
)

const shot = "etcd-20300102T120000Z.snapshot.age"

// world is an API server, an object store in a folder, and a process that can die at any
// of its calls to them.
type world struct {
	t     *testing.T
	api   client.WithWatch
	at    store.Store
	clock *clocktesting.FakePassiveClock
	jobs  *fakeJobs
	prep  func(Order) (*restore.Marker, error)
	// revision is that of etcd.
	revision int64
	// events are told by all processes.
	events []string
	process
}

// process is one of the manager's.
type process struct {
	r      *Reconciler
	resume *Resume
	mu     sync.Mutex
	calls  []string
	// killAt is the call, from 1, before or after which the process dies; 0 for none.
	killAt    int
	killAfter bool
	dead      bool
	// broken is what a call of that name answers.
	broken map[string]error
}

var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
})

func newWorld(t *testing.T, more ...client.Object) *world {
	t.Helper()
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	at, err := store.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	objects := append([]client.Object{quay(), nightly(), order()}, more...)
	for n := range 3 {
		objects = append(objects, plane(n+1))
	}
	w := &world{t: t, at: at, clock: clocktesting.NewFakePassiveClock(start), jobs: &fakeJobs{}, revision: 2_000_000_001}
	w.prep = func(o Order) (*restore.Marker, error) { return w.marker(o.Operation), nil }
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithStatusSubresource(quay(), nightly(), order(), plane(1), &v1alpha1.Etcd{}).Build()
	w.restart()
	return w
}

// marker is what preparing writes into the store.
func (w *world) marker(o *v1alpha1.TalosOperation) *restore.Marker {
	w.t.Helper()
	m := &restore.Marker{
		Schema: restore.Schema, Fence: 1, Cluster: "quay", Namespace: "default", Backup: "nightly", Epoch: start.UnixMilli(),
		Operation: restore.Operation{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Requester: o.Annotations[v1alpha1.AnnotationRequestedBy], Spec: o.Spec},
		Snapshot:  restore.Snapshot{Name: shot, Time: taken}, Pinned: restore.Pinned{Undo: "etcd-20300102T145900Z.snapshot.age", Floor: 2_000_000_000},
		Step: v1alpha1.StepWiping, RequestedAt: o.CreationTimestamp.Time, StartedAt: start, LimitsFrom: start, Target: "cp-1",
	}
	for n := range 3 {
		m.Nodes = append(m.Nodes, restore.Node{Machine: fmt.Sprintf("cp-%d", n+1), NodeName: fmt.Sprintf("cp-%d", n+1), Address: fmt.Sprintf("192.0.2.%d", n+1), Role: v1alpha1.MachineControlPlane})
	}
	if _, err := w.at.Put(w.t.Context(), restore.PinnedName, strings.NewReader("ciphertext")); err != nil {
		w.t.Fatal(err)
	}
	if _, err := (restore.Markers{Store: w.at}).Create(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// edit changes the marker in the store, as the job does.
func (w *world) edit(change func(*restore.Marker)) {
	w.t.Helper()
	markers := restore.Markers{Store: w.at}
	m, version, err := markers.Load(w.t.Context())
	if err == nil {
		change(m)
		_, err = markers.Save(w.t.Context(), m, version)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// loaded is the marker in the store; nil if there is none.
func (w *world) loaded() *restore.Marker {
	w.t.Helper()
	m, _, err := (restore.Markers{Store: w.at}).Load(w.t.Context())
	if err != nil && !errors.Is(err, restore.ErrNoMarker) {
		w.t.Fatal(err)
	}
	return m
}

// restart begins a process with nothing in its memory.
func (w *world) restart() {
	w.process = process{broken: map[string]error{}}
	api := interceptor.NewClient(w.api, w.intercept())
	locks := &lease.Locks{Live: api, Client: api, Clock: w.clock, Identity: "quorate-controllers"}
	stores := func(context.Context, *v1alpha1.TalosEtcdBackup) (store.Store, error) {
		if err := w.broken["store"]; err != nil {
			return nil, err
		}
		return mortalStore{w.at, w}, nil
	}
	w.r = &Reconciler{
		Client: api, Live: api, Events: recorder{w}, Clock: w.clock, Log: logr.Discard(), Lock: LockBy(locks), Stores: stores,
		Preparing: w, Jobs: w.jobs, Recovered: w.recovered, Recover: func(*v1alpha1.TalosEtcdBackup) restoring.Recovery {
			return restoring.Recovery{Store: "s3://backups/quay"}
		},
	}
	w.resume = &Resume{Client: api, Live: api, Events: recorder{w}, Stores: stores, Recovered: w.recovered, Log: logr.Discard()}
}

// look reconciles once.
func (w *world) look() reconcile.Result {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: rewind})
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// op is the operation as the API server has it.
func (w *world) op() *v1alpha1.TalosOperation {
	w.t.Helper()
	o := &v1alpha1.TalosOperation{}
	if err := w.api.Get(w.t.Context(), rewind, o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// change edits an object's status, or all of it but the status.
func change[T client.Object](w *world, key types.NamespacedName, o T, status bool, edit func(T)) {
	w.t.Helper()
	if err := w.api.Get(w.t.Context(), key, o); err != nil {
		w.t.Fatal(err)
	}
	edit(o)
	var err error
	if status {
		err = w.api.Status().Update(w.t.Context(), o)
	} else {
		err = w.api.Update(w.t.Context(), o)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// echo has all machines answer the request, as their reconciler does.
func (w *world) echo() {
	w.t.Helper()
	for n := range 3 {
		key := types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("cp-%d", n+1)}
		change(w, key, &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
			m.Status.ObservedReconcileRequest = m.Annotations[v1alpha1.AnnotationReconcileRequested]
		})
	}
}
