package recovered

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/restored"
)

// TestTimeTravel: at the snapshot cp-3 was on its way out of the cluster, an operation was
// unfinished, and an Etcd and the control plane had another size. What kept them then is
// over; but nothing of it runs, neither during the restore nor after it: each is held, and
// listed, until a person releases it, and that one alone goes on.
//
// It uses its world up: cp-3 is gone from it at the end.
//
// covers: C-24
func TestTimeTravel(t *testing.T) {
	s := on(t, apart)
	ctx := within(t)
	must(t, s.Ready(ctx))
	past := s.middle(t)
	snapshot := s.before(t)
	s.after(t)
	past.ends(t)

	order := restored.Order("back-to-the-middle", restored.Backup, snapshot)
	must(t, s.Client.Create(ctx, order))
	must(t, s.Away(ctx))
	since := len(s.removals())
	must(t, s.Back(ctx))
	done, err := s.Completed(ctx, order.Name)
	must(t, err)
	s.rewound(t)
	t.Logf("%s", done.Status.EtcdRestore.Message)
	past.held(t)
	if got := s.removals()[since:]; len(got) > 0 {
		t.Errorf("while it was held: %q", got)
	}
	past.released(t, since)
}

// removals are the calls by which a member leaves or is removed.
func (s *stage) removals() (out []string) {
	for _, c := range s.Calls("EtcdLeaveCluster", "EtcdRemoveMemberByID") {
		out = append(out, c.Node+" "+c.Method)
	}
	return out
}

// held wants all to be back as it was and to wait, and what is asked of it meanwhile too.
func (m *middle) held(t *testing.T) {
	t.Helper()
	must(t, m.Client.Get(within(t), client.ObjectKeyFromObject(m.cluster), m.cluster))
	if got := m.cluster.Spec.ControlPlane.Count; got != 1 {
		t.Errorf("the declared count is %d, and was 1 at the snapshot", got)
	}
	m.removal(t, v1alpha1.ReasonHeldByRestore)
	m.lists(t, "talosoperation/unfinished", "talosmachine/cp-3", "etcd/orders")
	m.edits(t, m.etcd, func() {
		if got := ptr.Deref(m.etcd.Spec.Replicas, 0); got > 1 {
			t.Errorf("the Etcd asks for %d members, and did for 1 at the snapshot", got)
		}
		m.etcd.Spec.Replicas = ptr.To[int32](0)
	})
	until(t, "the Etcd to say that it is held", func(ctx context.Context) error {
		if err := m.Client.Get(ctx, client.ObjectKeyFromObject(m.etcd), m.etcd); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(m.etcd.Status.Conditions, v1alpha1.ConditionStalled); c == nil || c.Reason != v1alpha1.ReasonHeldByRestore {
			return fmt.Errorf("%w: %+v", errNotYet, m.etcd.Status.Conditions)
		}
		return nil
	})
	m.at(t, 1)
}

// lists wants exactly these to be held.
func (m *middle) lists(t *testing.T, want ...string) {
	t.Helper()
	answer := m.types(t, "", "operation", "list", "-A", "-o", "json").ends(0)
	if got := heldIn(t, answer); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("held: %q, want %q", got, want)
	}
}

// released lets go one after the other, and each is done then, and no other.
func (m *middle) released(t *testing.T, since int) {
	t.Helper()
	release := func(what, namespace string, says ...string) {
		t.Helper()
		m.types(t, "yes\n", "operation", "release", what, "-n", namespace).ends(0, append(says, what+" released")...)
	}
	release("talosmachine/cp-3", restored.Namespace, "Once it is released: its deletion goes on: Node cp-3 is drained, its etcd member")
	m.gone(t, m.machine)
	if got := m.removals()[since:]; !slices.Equal(got, []string{"cp-3 EtcdLeaveCluster"}) {
		t.Errorf("asked: %q, want cp-3 to leave, once", got)
	}
	m.at(t, 1)
	m.lists(t, "talosoperation/unfinished", "etcd/orders")

	release("etcd/orders", restored.Users, "Once it is released: its pods are gone, since spec.replicas is 0; its volumes stay.")
	m.at(t, 0)
	m.lists(t, "talosoperation/unfinished")

	release("talosoperation/unfinished", restored.Namespace, "Once it is released: the etcd of TalosCluster factory is restored from etcd-20300102T150405Z.snapshot.age")
	why := m.paused(t, m.operation)
	if want := "Backup nightly has no whole snapshot etcd-20300102T150405Z.snapshot.age."; !containsAll(why, "Nothing was changed. ", want) {
		t.Errorf("it was prepared anew, and says %q, want %q", why, want)
	}
	m.lists(t)
	must(t, m.Client.Delete(within(t), m.operation))
	m.gone(t, m.operation)
}
