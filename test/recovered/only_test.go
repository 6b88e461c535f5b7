package recovered

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/restored"
)

// TestOnlyControlPlane: the controller runs on the only control plane. A live restore is
// refused, and nothing is touched; the command that the refusal ends with does it, from the
// bundle, the store and the node alone. What is left for Kubernetes is the controller's,
// once it is back. The machine is known as the own one, and reached, though the endpoint
// that was declared is out of date by then and no hostname was declared at all.
//
// covers: C-35, C-41, C-42
func TestOnlyControlPlane(t *testing.T) {
	s := on(t, single)
	ctx := within(t)
	s.settles(t, "cp-1")
	snapshot := s.before(t)
	s.after(t)
	s.moves(t, "cp-1", "127.255.255.254:50000")
	boot, touched := s.Talos.Node("cp-1").BootID(), len(s.acts())

	order := restored.Order("only", restored.Backup, snapshot)
	must(t, s.Client.Create(ctx, order))
	refusal := s.paused(t, order)
	for _, want := range []string{"Nothing was changed. ", "cp-1 is the only control plane, and the controller runs on it", "--snapshot " + snapshot} {
		if !strings.Contains(refusal, want) {
			t.Errorf("the refusal does not say %q: %s", want, refusal)
		}
	}
	command := commandAtTheEnd(t, refusal)
	must(t, s.Client.Delete(ctx, order))
	s.gone(t, order)
	plan := s.types(t, yes, "restore", "--live", "--override", "-n", restored.Namespace).ends(1, "(ControllerOnTheOnlyControlPlane)", "the restore cannot begin")
	if other := commandInALine(t, plan); !slices.Equal(command, other) {
		t.Errorf("the plan ends with %q, the refusal with %q", other, command)
	}
	if now := s.Talos.Node("cp-1").BootID(); now != boot || len(s.acts()) != touched || s.marker(t) != nil {
		t.Errorf("it was refused, and something was done: boot %s, was %s; calls %+v; marker %+v", now, boot, s.acts()[touched:], s.marker(t))
	}
	s.untouched(t)

	wipes := len(s.Calls("Reset"))
	s.types(t, yes, command...).ends(0, "Wipe etcd data on ", "etcd of cluster factory is recovered and complete")
	m := s.marker(t)
	if m == nil || !m.JobDone {
		t.Fatalf("the marker is %+v, and the controller is to find it", m)
	}
	must(t, s.Back(ctx))
	s.rewound(t)
	done, err := s.Completed(ctx, fmt.Sprintf("etcd-restore-%d", m.Epoch))
	must(t, err)
	if done.Spec.EtcdRestore.Snapshot != snapshot || !strings.Contains(done.Annotations[v1alpha1.AnnotationRequestedBy], "--recover-cluster") {
		t.Errorf("the operation that was made again: %+v, ordered by %q", done.Spec.EtcdRestore, done.Annotations[v1alpha1.AnnotationRequestedBy])
	}
	s.over(t)
	must(t, s.Ready(within(t)))
	s.rewound(t)
	if got := s.wiped(wipes); !slices.Equal(got, []string{"cp-1"}) {
		t.Errorf("wiped: %q, want cp-1 once", got)
	}
}

// acts are the calls that change a machine or its etcd.
func (s *stage) acts() []string {
	var out []string
	for _, c := range s.Calls("Reset", "EtcdRecover", "Bootstrap", "EtcdLeaveCluster", "EtcdRemoveMemberByID", "EtcdForfeitLeadership", "Reboot", "Shutdown", "ServiceRestart") {
		out = append(out, c.Node+" "+c.Method)
	}
	return out
}

// settles has the manager run on a machine, and waits until all is well there.
func (s *stage) settles(t *testing.T, machine string) {
	t.Helper()
	s.MoveManager(machine)
	if _, at, _, err := s.Manager(); err != nil || at != machine {
		must(t, s.DeletePod(within(t)))
	}
	until(t, "the manager to be on "+machine, func(context.Context) error {
		if _, at, _, err := s.Manager(); err != nil || at != machine {
			return fmt.Errorf("%w: it is on %q: %v", errNotYet, at, err)
		}
		return nil
	})
	must(t, s.ManagerReady(within(t)))
	must(t, s.Reconciles(within(t), machine))
	must(t, s.Ready(within(t)))
}

// moves declares another endpoint of a machine, and waits until the controller has looked.
func (s *stage) moves(t *testing.T, machine, endpoint string) {
	t.Helper()
	m := &v1alpha1.TalosMachine{}
	must(t, s.Client.Get(within(t), client.ObjectKey{Namespace: restored.Namespace, Name: machine}, m))
	changed := m.DeepCopy()
	changed.Spec.Endpoint = endpoint
	must(t, s.Client.Patch(within(t), changed, client.MergeFrom(m)))
	must(t, s.Reconciles(within(t), machine))
}

// paused waits until an operation is, and answers why.
func (s *stage) paused(t *testing.T, o *v1alpha1.TalosOperation) (why string) {
	t.Helper()
	until(t, "operation "+o.Name+" to be paused", func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if o.Status.Phase != v1alpha1.PhasePaused {
			return fmt.Errorf("%w: %+v", errNotYet, o.Status)
		}
		return nil
	})
	return o.Status.FailureReason
}
