package epoch

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
)

// world is an API server with backups, and their stores.
type world struct {
	t     *testing.T
	api   client.WithWatch
	clock *clocktesting.FakePassiveClock
	gate  *Gate

	mu     sync.Mutex
	asked  map[string]int
	marker map[string]string
	fault  map[string]error
	// hang holds up a question until it is closed.
	hang chan struct{}
}

func newWorld(t *testing.T, backups ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, api: fake.NewClientBuilder().WithScheme(scheme).WithObjects(backups...).Build(),
		clock: clocktesting.NewFakePassiveClock(time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)),
		asked: map[string]int{}, marker: map[string]string{}, fault: map[string]error{},
	}
	w.gate = New(w.api, w, w.clock, logr.Discard())
	return w
}

func backup(name, cluster string) *v1alpha1.TalosEtcdBackup {
	b := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "plant", Name: name, UID: types.UID(name), Generation: 1}}
	b.Spec.ClusterRef.Name = cluster
	b.Spec.ObjectStore = v1alpha1.ObjectStore{Endpoint: "https://s3.example.com", Bucket: "backups", Prefix: name}
	return b
}

// Marked is asked of the stores.
func (w *world) Marked(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (string, error) {
	if w.hang != nil {
		select {
		case <-w.hang:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[b.Name]++
	return w.marker[b.Name], w.fault[b.Name]
}

// waits compares what Wait says.
func (w *world) waits(cluster, want string) {
	w.t.Helper()
	got, err := w.gate.Wait(w.t.Context(), "plant", cluster)
	if err != nil || got != want {
		w.t.Errorf("cluster %q\ngot  %q (%v)\nwant %q", cluster, got, err, want)
	}
}

// asks compares how often a store was asked.
func (w *world) asks(name string, want int) {
	w.t.Helper()
	if got := w.asked[name]; got != want {
		w.t.Errorf("the store of %s was asked %d times, want %d", name, got, want)
	}
}

func (w *world) after(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.api.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}
