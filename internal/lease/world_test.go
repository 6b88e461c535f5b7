package lease

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const (
	removeCP2 = "remove talosmachine cp-2"
	removeCP3 = "remove talosmachine cp-3"
)

var (
	prod  = types.NamespacedName{Namespace: "media", Name: "prod"}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// world is an API server with one clock for all processes.
type world struct {
	api   client.WithWatch
	clock *clocktesting.FakePassiveClock
}

func newWorld(t *testing.T, leases ...*coordinationv1.Lease) *world {
	t.Helper()
	b := fake.NewClientBuilder()
	for _, l := range leases {
		b = b.WithObjects(l)
	}
	return &world{api: b.Build(), clock: clocktesting.NewFakePassiveClock(start)}
}

// process is one that reads past its cache: a read through the client fails.
func (w *world) process(identity string) *Locks {
	cached := func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("read from a cache")
	}
	return &Locks{
		Live: w.api, Client: interceptor.NewClient(w.api, interceptor.Funcs{Get: cached}),
		Clock: w.clock, Identity: identity,
	}
}

func (w *world) after(d time.Duration) { w.clock.SetTime(start.Add(d)) }

func (w *world) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	l := &coordinationv1.Lease{}
	if err := w.api.Get(t.Context(), types.NamespacedName{Namespace: "media", Name: "quorate-prod"}, l); err != nil {
		t.Fatalf("the Lease: %v", err)
	}
	return l
}

func (w *world) change(t *testing.T, change func(*coordinationv1.Lease)) {
	t.Helper()
	l := w.lease(t)
	change(l)
	if err := w.api.Update(t.Context(), l); err != nil {
		t.Fatalf("change the Lease: %v", err)
	}
}

func take(t *testing.T, l *Locks, operation string) *Held {
	t.Helper()
	held, err := l.Take(t.Context(), prod, operation)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return held
}

// held is a Lease that was taken at start, and with the fence 4.
func held(holder, operation string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "media", Name: "quorate-prod", UID: "11",
			Annotations: map[string]string{OperationAnnotation: operation, "example.com/note": "kept"},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(30)), LeaseTransitions: new(int32(4)),
			AcquireTime: &metav1.MicroTime{Time: start}, RenewTime: &metav1.MicroTime{Time: start},
		},
	}
}

// says compares an error with its exact text and what it is.
func says(t *testing.T, err error, text string, is error) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("error = %v\nwant    %s", err, text)
	}
	for _, e := range []error{ErrHeld, ErrLost} {
		if errors.Is(err, e) != (e == is) {
			t.Errorf("errors.Is(%v, %v) = %t, want %t", err, e, e != is, e == is)
		}
	}
}

func (w *world) remove(t *testing.T) {
	t.Helper()
	if err := w.api.Delete(t.Context(), w.lease(t)); err != nil {
		t.Fatalf("delete the Lease: %v", err)
	}
}

// dump is all Leases as they are.
func (w *world) dump(t *testing.T) string {
	t.Helper()
	var all coordinationv1.LeaseList
	if err := w.api.List(t.Context(), &all); err != nil {
		t.Fatalf("list the Leases: %v", err)
	}
	text, err := json.Marshal(all.Items)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
