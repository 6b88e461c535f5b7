package cluster

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/lease"
)

var (
	quay  = types.NamespacedName{Namespace: "default", Name: "quay"}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	// errKilled is what a process that is dead gets of every call.
	errKilled = errors.New("killed")
)

// world is what the reconciler sees: an API server, an etcd cluster and its nodes. Each
// call that leaves the process goes through call.
type world struct {
	t     *testing.T
	api   client.WithWatch
	clock *clocktesting.FakePassiveClock
	*process

	// id is etcd's cluster ID, members its list.
	id      uint64
	members []guard.Member
	// bundleErr and viewErr stand for what cannot be read, and broken for what a call
	// of that name answers.
	bundleErr, viewErr error
	broken             map[string]error
	removals           []uint64
	events             []string
}

// process is one of the manager's.
type process struct {
	r     *Reconciler
	calls []string
	// left is how much time the last call of that name had.
	left map[string]time.Duration
	// on is done before the first call of that name.
	on map[string]func()
	// killAt is the call before which, or after which, the process dies; 0 for none.
	killAt    int
	killAfter bool
	dead      bool
}

// kinds is what the API server knows.
var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
})

// newWorld has three healthy control planes and a TalosCluster that asks for three.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		objects = append(objects, machine(n+1))
	}
	cluster := &v1alpha1.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay", UID: "quay-1", Generation: 4},
		Spec:       v1alpha1.TalosClusterSpec{ControlPlane: v1alpha1.ControlPlaneSpec{Count: 3}},
	}
	w := &world{
		t: t, clock: clocktesting.NewFakePassiveClock(start), id: 0xc1, members: voters(3), broken: map[string]error{},
		api: fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(cluster, machine(1)).WithObjects(append(objects, cluster)...).Build(),
	}
	w.members[0].Leader = true
	w.restart()
	return w
}

// machine is an approved control plane.
func machine(n int) *v1alpha1.TalosMachine {
	return &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("cp-%d", n)},
		Spec: v1alpha1.TalosMachineSpec{
			ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Approved: true, Endpoint: fmt.Sprintf("192.0.2.%d", n),
		},
	}
}

// restart begins a process of the same identity, with nothing in its memory.
func (w *world) restart() {
	w.process = &process{on: map[string]func(){}, left: map[string]time.Duration{}}
	reader := w.client()
	locks := &lease.Locks{Live: reader, Client: reader, Clock: w.clock, Identity: "quorate-controllers"}
	w.r = &Reconciler{
		Client: reader, Live: reader, Events: recorder{w}, Clock: w.clock, Log: testr.New(w.t),
		Plane: plane{w}, Dial: w.dial, Lock: w.lock(LockBy(locks)),
	}
}

// recorder keeps events.
type recorder struct{ *world }

func (r recorder) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.events = append(r.events, kind+" "+reason+": "+fmt.Sprintf(note, args...))
}

// took are the events since the last time.
func (w *world) took() []string {
	out := w.events
	w.events = nil
	return out
}

// reconcile looks once.
func (w *world) reconcile() reconcile.Result {
	w.t.Helper()
	result, err := w.try()
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w *world) try() (reconcile.Result, error) {
	w.t.Helper()
	return w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: quay})
}

func (w *world) after(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }
