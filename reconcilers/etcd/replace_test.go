package etcd

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// A disk is lost for the member that the agent names, and for no member that has
// joined in its place since; who names nobody is a founder.
func TestConcerns(t *testing.T) {
	const lost = "ErrDiskLost: the member's disk is lost: member 42728ac423c3d8e6 (main-1) has run with the peer URLs [http://main-1:2380]"
	const founder = "ErrDiskLost: the member's disk is lost: the disk has a database and no WAL, so this founder has run"
	for _, c := range []struct {
		name   string
		reason string
		member guard.Member
		want   bool
	}{
		{"the member", lost, guard.Member{ID: 0x42728ac423c3d8e6, Started: true}, true},
		{"its successor", lost, guard.Member{ID: 0x83bcae4ca2f78b1c, Learner: true}, false},
		{"its successor, a voter already", lost, guard.Member{ID: 0x83bcae4ca2f78b1c, Started: true}, false},
		{"a founder", founder, guard.Member{ID: 0x42728ac423c3d8e6, Started: true}, true},
		{"a founder's successor", founder, guard.Member{ID: 0x83bcae4ca2f78b1c, Learner: true, Started: true}, false},
	} {
		if got := concerns(c.reason, c.member); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// The agent joined anew before the pod's status said so: the new learner is neither
// removed nor written into the ledger, and its volume stays.
//
//
func TestSuccessorIsNoLostMember(t *testing.T) {
	d := newDestroyed(t, func(o *destroyedObjects) {
		o.ended(1, 10, "ErrDiskLost: the member's disk is lost: member 42728ac423c3d8e6 (main-1) has run")
		o.members[1] = guard.Member{ID: 0x83bcae4ca2f78b1c, PeerURLs: o.members[1].PeerURLs, Learner: true}
	})
	d.cycles(mostCycles)
	if ledger := d.etcd().Status.RemovedMembers; len(d.done) > 0 || len(ledger) > 0 {
		t.Errorf("done: %q, ledger %+v", d.done, ledger)
	}
}

// An intended removal of a member that came back is taken out of the ledger, once etcd
// would have answered to it; one of a member that is ill stays.
func TestIntendedRemovalIsWithdrawn(t *testing.T) {
	intended := func(id v1alpha1.HexID, ago time.Duration) v1alpha1.RemovedMember {
		return v1alpha1.RemovedMember{ID: id, Name: string(id), ClusterID: "c1", State: v1alpha1.RemovalIntended, At: metav1.NewTime(destroyedAt.Add(-ago))}
	}
	d := newDestroyed(t, func(o *destroyedObjects) {
		o.etcd.Status.RemovedMembers = []v1alpha1.RemovedMember{intended("a0", settling), intended("a1", settling-time.Second), intended("a2", time.Hour)}
		o.members[0].Leader, o.members[2].Leader, o.members[2].Healthy = true, false, false
	})
	d.cycles(mostCycles)
	var left []v1alpha1.HexID
	for _, entry := range d.etcd().Status.RemovedMembers {
		left = append(left, entry.ID)
	}
	if len(d.done) > 0 || !slices.Equal(left, []v1alpha1.HexID{"a1", "a2"}) {
		t.Errorf("done: %q, ledger %v", d.done, left)
	}
}

// A volume is not deleted on the word of a cache: its agent has joined anew since.
//
//
func TestVolumeOfSuccessorStays(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"it is done":             func(p *corev1.Pod) { p.Status.InitContainerStatuses[0].State.Terminated.ExitCode = 0 },
		"it is being deleted":    func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: destroyedAt} },
		"it is another pod":      func(p *corev1.Pod) { p.UID = "another" },
		"it refuses differently": func(p *corev1.Pod) { p.Status.InitContainerStatuses[0].State.Terminated.Message = "ErrFailed: no" },
	} {
		d := newDestroyed(t, func(o *destroyedObjects) {
			o.ended(1, 10, "ErrDiskLost: no log")
			o.members = slices.Delete(o.members, 1, 2)
		})
		d.r.Live = interceptor.NewClient(d.api, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				err := c.Get(ctx, key, o, opts...)
				if pod, ok := o.(*corev1.Pod); ok && err == nil {
					change(pod)
				}
				return err
			},
		})
		if d.cycles(mostCycles); len(d.done) > 0 {
			t.Errorf("%s: done: %q", name, d.done)
		}
	}
}
