package etcd

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// losses are ways to lose something, each with all of its steps that cannot be undone.
var losses = []struct {
	name   string
	change func(*destroyedObjects)
	steps  []string
}{
	{"a member less, the leader", func(o *destroyedObjects) { o.etcd.Spec.Replicas = ptr.To[int32](2) }, []string{
		"move leadership to a0", "remove member a2", "delete *v1.PersistentVolumeClaim data-main-2", "lower main from 3 to 2",
	}},
	{"hibernation", func(o *destroyedObjects) { o.etcd.Spec.Replicas = ptr.To[int32](0) }, []string{"lower main from 3 to 0"}},
	{"a removed member's disk", func(o *destroyedObjects) {
		o.ended(1, 10, "ErrMemberPermanentlyRemoved: member a1 was removed")
		o.members = slices.Delete(o.members, 1, 2)
	}, []string{"delete *v1.PersistentVolumeClaim data-main-1", "delete *v1.Pod main-1"}},
	{"a lost disk", func(o *destroyedObjects) {
		o.ended(1, 10, "ErrDiskLost: no log")
		o.members[1].Healthy = false
	}, []string{"remove member a1", "delete *v1.PersistentVolumeClaim data-main-1", "delete *v1.Pod main-1"}},
	{"a member removed by somebody else", func(o *destroyedObjects) {
		o.ended(1, 0, "")
		o.members = slices.Delete(o.members, 1, 2)
	}, []string{"delete *v1.Pod main-1"}},
	{"a changed template", func(o *destroyedObjects) { o.set.Status.UpdateRevision = "r3" }, []string{"delete *v1.Pod main-0"}},
	{"a changed template of the leader", func(o *destroyedObjects) { o.pods[2].Labels[appsv1.ControllerRevisionHashLabelKey] = "r1" }, []string{
		"move leadership to a0", "delete *v1.Pod main-2",
	}},
	{"another volume", func(o *destroyedObjects) { o.etcd.Spec.Storage.Size = ptr.To(resource.MustParse("16Gi")) }, []string{"delete *v1.StatefulSet main"}},
	{"deletion", func(o *destroyedObjects) { o.etcd.DeletionTimestamp = &metav1.Time{Time: destroyedAt} }, []string{"let main go"}},
	{"deletion from a shared cluster", func(o *destroyedObjects) {
		o.etcd.DeletionTimestamp = &metav1.Time{Time: destroyedAt}
		for i, name := range []string{"old-0", "old-1", "old-2", "old-3"} {
			o.members = append(o.members, guard.Member{ID: 0xb0 + uint64(i), Name: name, PeerURLs: []string{"http://" + name + ":2380"}, Started: true, Healthy: true}) //nolint:gosec // 4 at most
		}
		o.members[2].Leader, o.members[3].Leader = false, true
	}, []string{"remove member a0", "remove member a1", "remove member a2", "let main go"}},
	{"an etcd that ends by itself", func(o *destroyedObjects) {
		o.etcd.Status.Members = []v1alpha1.EtcdMember{{Name: "main-0", ID: "a0", Role: v1alpha1.RoleVoter}, {Name: "old-0", ID: "b0", Role: v1alpha1.RoleVoter}}
		o.pods[0].Status.Conditions = nil
		o.pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: etcdContainer, RestartCount: endedOften}}
		o.members = nil
	}, []string{"delete *v1.Pod main-0"}},
}

// mostCycles is how many a step may take: its ledger is written first, and mounted.
const mostCycles = 6

const restoreText = "A restore is on its way: TalosOperation plant/rewind. See quorate operation list."

// until lets n steps that cannot be undone happen.
func (d *destroyed) until(n int) {
	d.t.Helper()
	for range mostCycles * (n + 1) {
		if len(d.done) >= n {
			return
		}
		d.cycles(1)
	}
	d.t.Fatalf("after %d cycles: %q, want %d steps; %+v", mostCycles*(n+1), d.done, n, d.etcd().Status)
}

// A restore that begins before any step that cannot be undone holds it up, and the one
// after it too; the Etcd says so. After the restore the work goes on to its end.
func TestGateHoldsUp(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			for n := range loss.steps {
				d := newDestroyed(t, loss.change)
				if d.until(n); len(d.done) > n {
					continue // the next one is part of the same step
				}
				d.why = restoreText
				d.cycles(mostCycles)
				d.says(v1alpha1.ConditionReconciling, v1alpha1.ReasonRestoreInProgress, restoreText)
				if !slices.Equal(d.done, loss.steps[:n]) {
					t.Errorf("done during the restore: %q, want %q", d.done, loss.steps[:n])
				}
				d.gateErr = errors.New("list the backups: away")
				if err := d.cycle(); !errors.Is(err, d.gateErr) && !d.blockedBy(d.gateErr) {
					t.Errorf("an API server that does not tell: %v, %+v", err, d.etcd().Status.LastErrors)
				}
				d.why, d.gateErr = "", nil
				d.until(len(loss.steps))
				if !slices.Equal(d.done, loss.steps) {
					t.Errorf("done: %q, want %q", d.done, loss.steps)
				}
			}
		})
	}
}

// blockedBy tells whether an error stands in the way, by lastErrors.
func (d *destroyed) blockedBy(err error) bool {
	return slices.ContainsFunc(d.etcd().Status.LastErrors, func(e v1alpha1.LastError) bool { return e.Description == err.Error() })
}

// An Etcd that a restore brought back with work to do does none of it until a person
// releases it.
func TestHeldEtcd(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			d := newDestroyed(t, func(o *destroyedObjects) {
				loss.change(o)
				o.etcd.Annotations = map[string]string{v1alpha1.AnnotationHeldByRestore: "7"}
			})
			d.cycles(mostCycles)
			d.says(v1alpha1.ConditionStalled, v1alpha1.ReasonHeldByRestore,
				"Restore 7 brought this Etcd back with work that was under way when the snapshot was taken, and nothing of it that cannot be undone is done. "+
					"See that it is still wanted, then let it go on: quorate operation release etcd/main -n plant")
			if len(d.done) > 0 {
				t.Errorf("done while it is held: %q", d.done)
			}
			e := d.etcd()
			e.Annotations = nil
			if err := d.api.Update(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			d.until(len(loss.steps))
			if d.cycles(1); !slices.Equal(d.done[:len(loss.steps)], loss.steps) || d.condition(v1alpha1.ConditionStalled) != nil {
				t.Errorf("done: %q, want %q; Stalled %+v", d.done, loss.steps, d.condition(v1alpha1.ConditionStalled))
			}
		})
	}
}

func (d *destroyed) condition(kind string) *metav1.Condition {
	d.t.Helper()
	return findCondition(d.etcd(), kind)
}

// says holds a condition to a reason and a message, and the other one to be absent.
func (d *destroyed) says(kind, reason, message string) {
	d.t.Helper()
	if c := d.condition(kind); c == nil || c.Status != metav1.ConditionTrue || c.Reason != reason || c.Message != message {
		d.t.Errorf("%s is %+v\nwant %s: %s", kind, c, reason, message)
	}
	for _, other := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if c := d.condition(other); other != kind && c != nil {
			d.t.Errorf("beside it %+v", c)
		}
	}
}
