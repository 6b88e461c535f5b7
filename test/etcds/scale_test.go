package etcds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// want compares the live list and the volumes with the ordinals below replicas.
func (p *plant) want(replicas int) {
	p.t.Helper()
	var pods, claims []string
	for i := range replicas {
		pods, claims = append(pods, p.pod(i)), append(claims, p.claim(i))
	}
	if got := p.names(); !slices.Equal(got, pods) {
		p.t.Errorf("members %v, want %v", got, pods)
	}
	got, err := p.claims(p.t.Context())
	must(p.t, err)
	if !slices.Equal(got, claims) {
		p.t.Errorf("volumes %v, want %v", got, claims)
	}
}

//
func TestScaleOutAndIn(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	p.scale(5)
	p.settled(5)
	p.want(5)
	p.put("five")
	p.scale(3)
	p.until("the condition to name the change", func(e *v1alpha1.Etcd) error {
		for _, c := range e.Status.Conditions {
			if c.Type == v1alpha1.ConditionScaleOperationInProgress && c.Reason == v1alpha1.ReasonScalingIn && c.Status == metav1.ConditionTrue {
				return nil
			}
		}
		return errNotYet
	})
	p.settled(3)
	p.want(3)
	p.kept()
	// The gate and the controller mean the same: it is done, so the next change is free.
	p.scale(1)
	p.settled(1)
	p.want(1)
	p.kept()
}

//
func TestReplaceTheOnlyVolume(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 1)
	p.put("one")
	p.scale(3)
	p.settled(3)
	before, err := shared.Nodes.DiskPath(p.ns, p.claim(0))
	must(t, err)
	p.deleteClaim(0)
	p.deletePod(0)
	p.until("member 0 to be gone from its place", func(e *v1alpha1.Etcd) error {
		if len(e.Status.RemovedMembers) == 0 {
			return errNotYet
		}
		return nil
	})
	p.settled(3)
	after, err := shared.Nodes.DiskPath(p.ns, p.claim(0))
	must(t, err)
	if before == after {
		t.Errorf("member 0 is on %s as before", after)
	}
	p.put("three")
	p.scale(1)
	p.settled(1)
	p.want(1)
	p.kept()
}

func (p *plant) deleteClaim(ordinal int) {
	p.t.Helper()
	must(p.t, admin.Delete(p.t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.claim(ordinal)}}))
}

func (p *plant) deletePod(ordinal int) {
	p.t.Helper()
	must(p.t, admin.Delete(p.t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.pod(ordinal)}}))
}

// The leader at the highest ordinal goes last, and leadership moves before it does.
//
//
func TestLeaderGoesLast(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 5)
	p.lead(4)
	p.scale(3)
	p.settled(3)
	p.want(3)
	p.told(removed("main-3"), removed("main-4"))
	p.told("LeaderMoved: Leadership moved from main-4 ", removed("main-4"))
}

// A member that stays is dead: the surplus goes all the same while that is safe, and
// is withheld where it is not, until the member is back.
//
//
func TestRemovalIsWithheldAndHealed(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	dead := p.down(0)
	p.scale(1)
	p.until("the refusal", func(e *v1alpha1.Etcd) error {
		for _, l := range e.Status.LastErrors {
			if l.Code == v1alpha1.ErrQuorumUnsafeMemberRemoval && strings.Contains(l.Description, "removal would break quorum") && strings.Contains(l.Description, "main-0") {
				if e.Status.LastOperation.State != v1alpha1.StateError || e.Status.ScaleOperation == nil {
					return fmt.Errorf("%w: state %s", errNotYet, e.Status.LastOperation.State)
				}
				return nil
			}
		}
		return errNotYet
	})
	if n := len(p.view().Members); n != 3 {
		t.Errorf("%d members, want 3: none may go", n)
	}
	if err := p.tryScale(3); err == nil || !strings.Contains(err.Error(), "(scale-out-blocked)") {
		t.Errorf("going back: %v, want a refusal by scale-out-blocked", err)
	}
	dead()
	p.settled(1)
	p.want(1)
	p.kept()
}

var errRunning = errors.New("it runs")
