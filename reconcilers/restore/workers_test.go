package restore

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// A restore that was ordered by command line knows no workers: the controller that ends it
// adds those of the restored cluster, and has a job restart their kubelets, once.
//
// covers: C-21
func TestWorkersOfACommand(t *testing.T) {
	worker, stranger := plane(4), plane(5)
	worker.Name, worker.Spec.Role, worker.Spec.Endpoint, worker.Status.NodeName = "worker-1", v1alpha1.MachineWorker, "192.0.2.4:50001", "node-4"
	stranger.Name, stranger.Spec.Role, stranger.Spec.Approved = "worker-2", v1alpha1.MachineWorker, false
	w := newWorld(t, worker, stranger)
	m := w.marker(order())
	w.remove(order())
	later := w.clock.Now().Add(14 * time.Minute)
	w.edit(func(m *restore.Marker) {
		m.Operation, m.Step, m.JobDone = restore.Operation{Requester: "the command line"}, v1alpha1.StepRejoining, true
		m.Owner, m.AgentsSince = restore.Owner{Identity: "the command", Expires: later}, &m.StartedAt
	})
	if err := w.resume.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: "default", Name: restore.CommandName(m.Epoch)}
	look := func() {
		t.Helper()
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
	}
	look()
	is := w.loaded()
	want := restore.Node{Machine: "worker-1", NodeName: "node-4", Address: "192.0.2.4:50001", Role: v1alpha1.MachineWorker}
	if len(is.Nodes) != 4 || is.Nodes[3].Machine != want.Machine || is.Nodes[3].NodeName != want.NodeName || is.Nodes[3].Address != want.Address || is.Nodes[3].ControlPlane() {
		t.Fatalf("the marker has the nodes %+v, want %+v as the last", is.Nodes, want)
	}
	if is.JobDone || is.AgentsSince != nil || is.Owner.Expires.After(w.clock.Now()) {
		t.Errorf("done %t, kubelets since %v, held until %s", is.JobDone, is.AgentsSince, is.Owner.Expires)
	}
	look()
	if w.jobs.starts != 1 {
		t.Errorf("%d jobs were started, want 1", w.jobs.starts)
	}
	w.edit(func(m *restore.Marker) { m.JobDone = true })
	w.jobs.state.Running = false
	look()
	if is := w.loaded(); len(is.Nodes) != 4 || !is.JobDone {
		t.Errorf("they are asked again: %+v", is)
	}
}
