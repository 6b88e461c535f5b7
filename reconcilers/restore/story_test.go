package restore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
