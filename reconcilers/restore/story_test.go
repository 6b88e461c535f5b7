package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// A restore from its order to its end, as the status tells it.
//
// covers: C-3, C-7, C-16, C-25
func TestStory(t *testing.T) {
	w := newWorld(t)
	w.look()
	o := w.op()
	s := o.Status.EtcdRestore
	if o.Status.Phase != v1alpha1.PhaseRunning || s.Step != v1alpha1.StepWiping || s.Target != "cp-1" || !s.SnapshotTime.Time.Equal(taken) || s.RequestedAt == nil {
		t.Fatalf("prepared: phase %s, %+v", o.Status.Phase, s)
	}
	if !w.jobs.begun {
		t.Error("the gate is open between marker and job")
	}
	if got := w.told("TalosCluster", "Warning", v1alpha1.ReasonRestoreStarted); !strings.Contains(got, "as ordered by alice@example.com") {
		t.Errorf("the cluster's event does not name who ordered it: %q", got)
	} else if want := "To finish it without Kubernetes: quorate restore --recover-cluster"; !strings.Contains(got, want) || !strings.Contains(got, " --snapshot "+shot) {
		t.Errorf("the cluster's event does not tell what is left without an API: %q", got)
	}
	w.look()
	w.jobs.state.Progress = restore.Progress{Step: v1alpha1.StepWiping, Note: "cp-2 does not answer, as one that reboots"}
	w.look()
	if got := w.op().Status.EtcdRestore.Message; w.jobs.starts != 1 || got != "Wiping: cp-2 does not answer, as one that reboots." {
		t.Errorf("%d jobs were started, and the message is %q", w.jobs.starts, got)
	}

	// The rewind takes the operation; a new term finds the marker.
	o.Finalizers = nil
	if err := w.api.Update(t.Context(), o); client.IgnoreNotFound(err) != nil {
		change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) { o.Finalizers = nil })
	}
	if err := w.api.Delete(t.Context(), w.op()); err != nil {
		t.Fatal(err)
	}
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.jobs.state, w.jobs.known = JobState{}, false
	w.restart()
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.op().Spec, order().Spec; fmt.Sprint(*got.EtcdRestore) != fmt.Sprint(*want.EtcdRestore) || got.ClusterRef != want.ClusterRef {
		t.Errorf("made again with %+v, want %+v", got, want)
	}
	w.look()
	o = w.op()
	if s := o.Status.EtcdRestore; s.Step != v1alpha1.StepReconciling || s.ReconcileRequest != fmt.Sprintf("restore-%d", start.UnixMilli()) ||
		s.Message != "Reconciling: waiting for TalosMachine cp-1, which has not reconciled since, TalosMachine cp-2, which has not reconciled since, TalosMachine cp-3, which has not reconciled since." {
		t.Fatalf("while machines reconcile: %+v", s)
	}
	w.echo()
	w.look()
	w.ended()
}

// ended checks that nothing is left of a restore but its effect.
func (w *world) ended() {
	w.t.Helper()
	o := w.op()
	want := "etcd is as it was at 2030-01-02T12:00:00Z. What it was before the restore is in snapshot etcd-20300102T145900Z.snapshot.age."
	if o.Status.Phase != v1alpha1.PhaseCompleted || o.Status.EtcdRestore.Message != want || len(o.Finalizers) > 0 {
		w.t.Errorf("phase %s (%s), finalizers %q, message %q; want it Completed, with %q", o.Status.Phase, o.Status.FailureReason, o.Finalizers, o.Status.EtcdRestore.Message, want)
	}
	if m := w.loaded(); m != nil {
		w.t.Errorf("the marker is left: %+v", m)
	}
	if _, err := w.at.Stat(w.t.Context(), restore.PinnedName); !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("the copy is left: %v", err)
	}
	var cluster v1alpha1.TalosCluster
	if err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(quay()), &cluster); err != nil {
		w.t.Fatal(err)
	}
	if cluster.Status.RestoreEpoch != start.UnixMilli() {
		w.t.Errorf("the cluster's epoch is %d, want %d", cluster.Status.RestoreEpoch, start.UnixMilli())
	}
	if cluster.Status.ClusterID != "beef" {
		w.t.Errorf("the cluster's etcd is %q, want beef: it is another one since", cluster.Status.ClusterID)
	}
	if !w.jobs.ended {
		w.t.Error("the folder was not erased")
	}
}

const unchanged = "Nothing was changed. When what is named here is mended, delete this operation and order the restore again. "

// Whatever preparing fails with has changed nothing, and the pause says so.
//
// covers: C-8
func TestPreparingFails(t *testing.T) {
	w := newWorld(t)
	w.prep = func(Order) (*restore.Marker, error) { return nil, errors.New("the snapshot is cut off") }
	w.look()
	o := w.op()
	want := unchanged + "The snapshot is cut off."
	if o.Status.Phase != v1alpha1.PhasePaused || o.Status.FailureReason != want || o.Status.EtcdRestore.Step != "" {
		t.Errorf("phase %s at %q: %q; want Paused: %q", o.Status.Phase, o.Status.EtcdRestore.Step, o.Status.FailureReason, want)
	}
	if w.jobs.starts > 0 {
		t.Error("a job was started")
	}
	calls := len(w.calls)
	w.look()
	if len(w.calls) != calls {
		t.Errorf("it was tried again: %q", w.calls[calls:])
	}
}

// covers: C-8
func TestNothingToPrepareWith(t *testing.T) {
	for _, c := range []struct {
		label string
		spoil func(w *world)
		want  string
	}{
		{"no cluster", func(w *world) { w.remove(quay()) }, "There is no TalosCluster default/quay."},
		{"no backup", func(w *world) { w.remove(nightly()) }, "There is no TalosEtcdBackup default/nightly."},
		{"a store with wrong settings", func(w *world) { w.broken["store"] = fmt.Errorf("%w: there is no Secret nightly-s3", store.ErrSettings) },
			"The object store of backup nightly cannot be used: settings of the object store: there is no Secret nightly-s3."},
	} {
		w := newWorld(t)
		c.spoil(w)
		w.look()
		o := w.op()
		if want := unchanged + c.want; o.Status.Phase != v1alpha1.PhasePaused || o.Status.FailureReason != want {
			t.Errorf("%s: %s: %q, want %q", c.label, o.Status.Phase, o.Status.FailureReason, want)
		}
	}
}

func (w *world) remove(o client.Object) {
	w.t.Helper()
	if err := w.api.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// A failure of the job is final, names the way out, and is gone on with only if a person
// says so.
//
// covers: C-32, C-33, C-34
func TestJobGivesUp(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Failure = "etcd was not recovered within 1h0m0s." })
	w.jobs.state.Running = false
	w.look()
	o := w.op()
	want := "etcd was not recovered within 1h0m0s. To finish it without Kubernetes: quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://backups/quay --snapshot " + shot +
		" --node-endpoint 192.0.2.1 --node-endpoint 192.0.2.2 --node-endpoint 192.0.2.3"
	if o.Status.Phase != v1alpha1.PhasePaused || o.Status.FailureReason != want {
		t.Fatalf("%s: %q, want Paused: %q", o.Status.Phase, o.Status.FailureReason, want)
	}
	starts := w.jobs.starts
	w.look()
	if w.jobs.starts != starts {
		t.Error("it was tried again by itself")
	}
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) {
		o.Annotations[v1alpha1.AnnotationRelease] = "go on"
	})
	w.look()
	w.look()
	if m := w.loaded(); m.Failure != "" || w.jobs.starts != starts+1 || w.op().Status.Phase != v1alpha1.PhaseRunning {
		t.Errorf("after its release: failure %q, %d jobs, phase %s", m.Failure, w.jobs.starts, w.op().Status.Phase)
	}
}

// covers: C-23, C-34
func TestMachinesTakeTooLong(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	change(w, client.ObjectKey{Namespace: "default", Name: "cp-2"}, &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
		m.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "Its configuration wants a reboot."},
			{Type: v1alpha1.ConditionRebootRequired, Status: metav1.ConditionTrue},
		}
	})
	w.look()
	w.echo()
	w.look()
	waits := "Reconciling: waiting for TalosMachine cp-2, which is not Ready: Its configuration wants a reboot.. A person has to reboot cp-2 (RebootRequired); the restore reboots nothing for that."
	if got := w.op().Status.EtcdRestore.Message; got != waits {
		t.Errorf("it waits with %q, want %q", got, waits)
	}
	w.clock.SetTime(start.Add(150*time.Minute + time.Second))
	w.look()
	o := w.op()
	if o.Status.Phase != v1alpha1.PhasePaused || !strings.HasPrefix(o.Status.FailureReason, "The restore was not over within 2h30m0s. Last: "+waits) {
		t.Errorf("%s: %q", o.Status.Phase, o.Status.FailureReason)
	}
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) {
		o.Annotations[v1alpha1.AnnotationRelease] = "go on"
	})
	change(w, client.ObjectKey{Namespace: "default", Name: "cp-2"}, &v1alpha1.TalosMachine{}, true, func(m *v1alpha1.TalosMachine) {
		m.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	})
	for range 3 {
		w.look()
	}
	w.ended()
}

// A started restore is not deleted while etcd is away; after that, marker and copy go
// first, so that it never comes back.
//
// covers: C-30, C-31
func TestDeleted(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.remove(w.op())
	w.look()
	o := w.op()
	if w.loaded() == nil || !slices.Contains(o.Finalizers, v1alpha1.FinalizerEtcdRestore) || w.jobs.starts != 1 {
		t.Fatalf("deleted while it wipes: marker %v, finalizers %q, %d jobs", w.loaded(), o.Finalizers, w.jobs.starts)
	}
	if w.told("TalosOperation", "Warning", v1alpha1.ReasonDeletionWaits) == "" {
		t.Errorf("nobody was told: %q", w.events)
	}
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.look()
	if err := w.api.Get(t.Context(), rewind, &v1alpha1.TalosOperation{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the operation is left: %v", err)
	}
	if w.loaded() != nil {
		t.Error("the marker is left")
	}
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.api.Get(t.Context(), rewind, &v1alpha1.TalosOperation{}); err == nil {
		t.Error("it came back")
	}
}

// The webhook that admits the operation may be away; a broken backup stops nobody; a
// newer marker is left alone, and told of once.
//
// covers: C-28, C-29
func TestResume(t *testing.T) {
	w := newWorld(t)
	w.look()
	change(w, rewind, &v1alpha1.TalosOperation{}, false, func(o *v1alpha1.TalosOperation) { o.Finalizers = nil })
	w.remove(w.op())
	w.restart()
	w.broken["create *v1alpha1.TalosOperation"] = errors.New("connection refused")
	if err := w.resume.Pass(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a refused creation is tried again: %v", err)
	}
	w.broken["create *v1alpha1.TalosOperation"] = nil
	for range 2 {
		if err := w.resume.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseRunning || o.Status.EtcdRestore.Step != v1alpha1.StepWiping || o.Annotations[v1alpha1.AnnotationRequestedBy] != "alice@example.com" {
		t.Errorf("made again: %+v, %q", o.Status, o.Annotations)
	}

	w.broken["store"] = store.ErrSettings
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Errorf("a store that cannot be loaded is passed over: %v", err)
	}
	w.broken["store"] = store.ErrUnreachable
	if err := w.resume.Pass(t.Context()); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("a store that is away is asked again: %v", err)
	}
	w.broken["store"] = nil
	w.edit(func(m *restore.Marker) { m.Schema = restore.Schema + 1 })
	for range 2 {
		if err := w.resume.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(w.events), func(e string) bool { return !strings.Contains(e, v1alpha1.ReasonNewerMarker) })); n != 1 {
		t.Errorf("%d events of a newer marker, want 1: %q", n, w.events)
	}
}

// An etcd that is not the recovered one is not taken for it, and one that is silent is
// waited for.
func TestOnlyTheRecoveredEtcdIsAdopted(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Step, m.JobDone = v1alpha1.StepRejoining, true })
	w.revision = 900
	for want, err := range map[string]error{
		"Rejoining: the etcd of cp-1 has to say which cluster it is: it is at revision 900, and the recovered etcd is at 2000000000 at least.": nil,
		"Rejoining: the etcd of cp-1 has to say which cluster it is: no answer.":                                                               errors.New("no answer"),
	} {
		w.broken["etcd"] = err
		w.look()
		if got := w.op().Status.EtcdRestore.Message; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var cluster v1alpha1.TalosCluster
	if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(quay()), &cluster); err != nil || cluster.Status.ClusterID != "" {
		t.Errorf("adopted %q, %v", cluster.Status.ClusterID, err)
	}
}

// What the rewind brought back unfinished waits for a person.
func TestReturnedWorkIsHeld(t *testing.T) {
	old := order()
	old.Name, old.UID, old.CreationTimestamp = "older", "older-1", metav1.NewTime(taken.Add(-time.Hour))
	old.Status.Phase = v1alpha1.PhaseRunning
	going := plane(4)
	going.Finalizers, going.DeletionTimestamp = []string{v1alpha1.FinalizerMachine}, &metav1.Time{Time: taken}
	size := int32(3)
	etcd := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "main"}, Spec: v1alpha1.EtcdSpec{Replicas: &size}}
	w := newWorld(t, old, going, etcd)
	w.look()
	w.edit(func(m *restore.Marker) {
		m.Step, m.JobDone, m.Etcds = v1alpha1.StepRejoining, true, []restore.EtcdSize{{Namespace: "apps", Name: "main", Replicas: 5}}
	})
	if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(old)}); err != nil {
		t.Fatal(err)
	}
	w.look()
	w.echo()
	w.look()
	w.ended()
	held := fmt.Sprint(start.UnixMilli())
	for _, o := range []client.Object{&v1alpha1.TalosOperation{ObjectMeta: old.ObjectMeta}, &v1alpha1.TalosMachine{ObjectMeta: going.ObjectMeta}, &v1alpha1.Etcd{ObjectMeta: etcd.ObjectMeta}} {
		if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		if got := o.GetAnnotations()[v1alpha1.AnnotationHeldByRestore]; got != held {
			t.Errorf("%T %s is held by %q, want %q", o, o.GetName(), got, held)
		}
		if op, ok := o.(*v1alpha1.TalosOperation); ok && op.Status.Phase != v1alpha1.PhaseHeld {
			t.Errorf("the older operation is %s, want Held", op.Status.Phase)
		}
	}
	if w.told("TalosCluster", "Warning", v1alpha1.ReasonHeldByRestore) == "" {
		t.Error("nobody was told what is held")
	}
}
