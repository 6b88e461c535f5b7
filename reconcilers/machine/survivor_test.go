package machine

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// A machine that stops answering while it is leaving is given up after 15 s, and its
// member removed by one that stays.
//
// covers: B-5, B-10
func TestSilenceInTheMiddleOfALeave(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(3)...)
		p.hangs = true
		r := p.reconciler(immortal())
		for r.work.get("cp-3").leave == nil {
			p.goes(t, r, "cp-3")
		}
		p.silent["cp-3"], p.members[2].Healthy = true, false
		began := time.Now()
		for len(p.sent) == 0 && time.Since(began) < time.Minute {
			p.goes(t, r, "cp-3")
			time.Sleep(busy) // of the bubble's time
		}
		if took := time.Since(began); took < silence || took > silence+5*time.Second || !slices.Equal(p.sent, []string{"removal a3 listed=true"}) {
			t.Errorf("after %s: %v", took, p.sent)
		}
		p.lives("cp-3", immortal())
	})
}

// etcd that takes its members for ill is asked again before it is told as a failure,
// and the lock is given back then.
//
// covers: B-6
func TestSurvivorFails(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(4)...)
		p.silent["cp-4"], p.members[3].Healthy, p.refusals, p.looks = true, false, mostRefusals+1, 0
		r := p.reconciler(immortal())
		for range mostRefusals {
			says(t, p.goes(t, r, "cp-4"), metav1.ConditionTrue, v1alpha1.ReasonRemovingEtcdMember, "cp-1 was asked to remove cp-4, which did not leave by itself (")
		}
		says(t, p.goes(t, r, "cp-4"), metav1.ConditionFalse, v1alpha1.ReasonEtcdMemberRemovalFailed, "and failed: ")
		if r.work.get("cp-4").hold != nil {
			t.Error("the lock is held")
		}
		p.lives("cp-4", immortal())
	})
}

// What answers at the machine's address and is not it is told, and nothing is done; but
// a member that was recorded and is ill is not what answers there.
func TestStrangerAtTheAddress(t *testing.T) {
	engine := newEngine(t)
	for _, healthy := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlayed(t, engine, controlPlanes(4)...)
			p.foreign["cp-4"] = errors.Join(talos.ErrOtherCluster, errors.New("it is b, and the bundle's is a"))
			p.members[3].Healthy, p.looks = healthy, 0
			r := p.reconciler(immortal())
			got := p.goes(t, r, "cp-4")
			if !healthy {
				says(t, got, metav1.ConditionTrue, v1alpha1.ReasonRemovingEtcdMember, "cp-4 was removed through cp-1")
				return
			}
			says(t, got, metav1.ConditionFalse, v1alpha1.ReasonEtcdMemberRemovalFailed, "What answers at 192.0.2.4 is not to be trusted with it: ")
			if len(p.sent) > 0 {
				t.Errorf("asked for: %v", p.sent)
			}
		})
	}
}

// Nobody is left who could remove the member.
//
// covers: B-6
func TestNoSurvivorAnswers(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(4)...)
		for _, name := range []string{"cp-1", "cp-2", "cp-3", "cp-4"} {
			p.silent[name] = true
		}
		p.looks = 0
		r := p.reconciler(immortal())
		says(t, p.goes(t, r, "cp-4"), metav1.ConditionFalse, v1alpha1.ReasonEtcdMemberRemovalFailed, "no approved control plane that stays can remove it (cp-1: ")
		m := &v1alpha1.TalosMachine{}
		if err := p.api.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "cp-4"}, m); err != nil || !slices.Contains(m.Finalizers, v1alpha1.FinalizerMachine) {
			t.Errorf("finalizers %v (%v)", m.Finalizers, err)
		}
	})
}

// A survivor that may not remove the member is passed over for one that may.
//
// covers: B-5
func TestSurvivorDenies(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(4)...)
		p.silent["cp-4"], p.members[3].Healthy, p.looks = true, false, 0
		p.denies = map[string]bool{"cp-1": true}
		says(t, p.goes(t, p.reconciler(immortal()), "cp-4"), metav1.ConditionTrue, v1alpha1.ReasonRemovingEtcdMember, "cp-4 was removed through cp-2")
	})
}

// Without a member list nothing is said of the members' health: the words are those of
// etcd, and of the machine's own API, which may know better why.
func TestNoMemberList(t *testing.T) {
	engine := newEngine(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, engine, controlPlanes(3)...)
		p.report(t, false)
		p.viewErr, p.foreign["cp-3"] = errors.New("context deadline exceeded"), talos.ErrWrongCA
		says(t, p.goes(t, p.reconciler(immortal()), "cp-3"), metav1.ConditionFalse, v1alpha1.ReasonEtcdMemberRemovalFailed,
			"The etcd cluster gives no member list: context deadline exceeded; asked by its own API, the machine: "+talos.ErrWrongCA.Error()+".")
	})
}
