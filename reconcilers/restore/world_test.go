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

func quay() *v1alpha1.TalosCluster {
	return &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay", UID: "quay-1"}}
}

func nightly() *v1alpha1.TalosEtcdBackup {
	return &v1alpha1.TalosEtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec:       v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}},
	}
}

func order() *v1alpha1.TalosOperation {
	return &v1alpha1.TalosOperation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rewind", UID: "rewind-1", CreationTimestamp: metav1.NewTime(start.Add(-time.Minute)),
			Annotations: map[string]string{v1alpha1.AnnotationRequestedBy: "alice@example.com"}},
		Spec: v1alpha1.TalosOperationSpec{Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: "quay"},
			EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: "nightly"}, Snapshot: shot, Confirm: "quay"}},
	}
}

func plane(n int) *v1alpha1.TalosMachine {
	return &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("cp-%d", n)},
		Spec: v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Approved: true,
			Endpoint: fmt.Sprintf("192.0.2.%d", n)},
		Status: v1alpha1.TalosMachineStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}},
	}
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
	w.resume = &Resume{Client: api, Live: api, Events: recorder{w}, Stores: stores, Log: logr.Discard()}
}

// Prepare implements Preparing.
func (w *world) Prepare(ctx context.Context, o Order, check func(context.Context) error, say func(string)) (*restore.Marker, error) {
	say("it is being played")
	if err := check(ctx); err != nil {
		return nil, err
	}
	var m *restore.Marker
	err := w.call("prepare", func() (err error) { m, err = w.prep(o); return err })
	return m, err
}

// recovered is what the target's etcd says of itself.
func (w *world) recovered(context.Context, *v1alpha1.TalosCluster, *restore.Marker) (restore.Probe, error) {
	return restore.Probe{ClusterID: 0xbeef, Revision: w.revision}, w.broken["etcd"]
}

// fakeJobs notes what it is asked.
type fakeJobs struct {
	state  JobState
	known  bool
	starts int
	begun  bool
	ended  bool
	err    error
}

func (j *fakeJobs) Start(context.Context, *v1alpha1.TalosCluster, *v1alpha1.TalosEtcdBackup, *restore.Marker) error {
	if j.err != nil {
		return j.err
	}
	j.starts++
	j.known, j.state.Running = true, true
	return nil
}

func (j *fakeJobs) Begun(types.NamespacedName) { j.begun = true }

func (j *fakeJobs) State(types.NamespacedName) (JobState, bool) { return j.state, j.known }

func (j *fakeJobs) End(context.Context, types.NamespacedName) error {
	j.known, j.state, j.ended = false, JobState{}, true
	return nil
}

// recorder keeps events.
type recorder struct{ *world }

func (r recorder) Eventf(about, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.events = append(r.events, fmt.Sprintf("%T %s %s: %s", about, kind, reason, fmt.Sprintf(note, args...)))
}

// told tells whether an event of a kind of object, type and reason was told.
func (w *world) told(about, kind, reason string) string {
	for _, e := range w.events {
		if strings.HasPrefix(e, "*v1alpha1."+about+" "+kind+" "+reason+":") {
			return e
		}
	}
	return ""
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

func ready(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}
