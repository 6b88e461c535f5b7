package etcds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// blockedBy waits until lastErrors has the code, with these texts in its description.
func (p *plant) blockedBy(code v1alpha1.ErrorCode, texts ...string) {
	p.t.Helper()
	p.until(string(code), func(e *v1alpha1.Etcd) error {
		for _, l := range e.Status.LastErrors {
			missing := slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(l.Description, text) })
			if l.Code == code && !missing {
				return nil
			}
		}
		return errNotYet
	})
}

// healed waits until no error stands in the way.
func (p *plant) healed() {
	p.t.Helper()
	p.until("all errors to be resolved", func(e *v1alpha1.Etcd) error {
		if len(e.Status.LastErrors) > 0 || e.Status.ObservedGeneration != e.Generation {
			return errNotYet
		}
		return nil
	})
}

// forbidden checks that admission refuses by the rule.
func forbidden(t *testing.T, err error, rule string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "("+rule+")") {
		t.Errorf("%v, want a refusal by %s", err, rule)
	}
}

// A source member goes only when the rest keeps its quorum; while it is withheld,
// taking the removal back is refused.
//
//
func TestSourceRemovalIsWithheld(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 2)
	source.put("before")
	moved := join(t, source, "moved", 1, sourced(source, 0, 1))
	up := source.down(1)
	must(t, moved.list(source.listedAs(1)...))
	moved.blockedBy(v1alpha1.ErrQuorumUnsafeMemberRemoval, "member main-0 not removed: removal would break quorum", "heal main-1")
	forbidden(t, moved.list(source.listedAs(0, 1)...), "bootstrap-readd-blocked")
	forbidden(t, moved.tryScale(3), "scale-out-blocked")
	if n := len(moved.view().Members); n != 3 {
		t.Errorf("%d members, want 3: none may go", n)
	}
	up()
	moved.shares(1)
	moved.lists("main-1", "moved-0")
	moved.kept()
}

// Members of a source that nobody recorded are never touched. One that is put on the
// list later is recorded, and can be removed then.
//
//
func TestUnrecordedSourceMembersStay(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 3)
	source.put("before")
	moved := join(t, source, "moved", 1, sourced(source, 0))
	if got := recorded(moved.get()); !slices.Equal(got, []string{"main-0"}) {
		t.Errorf("recorded as joined: %v, want main-0 alone", got)
	}
	must(t, moved.list(source.listedAs(0, 1)...))
	moved.until("main-1 to be recorded", func(e *v1alpha1.Etcd) error {
		if !slices.Equal(recorded(e), []string{"main-0", "main-1"}) {
			return fmt.Errorf("%w: %v", errNotYet, recorded(e))
		}
		return nil
	})
	must(t, moved.list())
	moved.shares(1)
	moved.passes(3)
	moved.lists("main-2", "moved-0")
	if got := condition(source.get(), v1alpha1.ConditionReady).Reason; got == v1alpha1.ReasonDecommissioned {
		t.Error("the source says that it has no members, and has one")
	}
	moved.kept()
	source.written = moved.written
	source.kept()
}

// Two Etcds that share a cluster are scaled at once, in opposite directions: they take
// turns, and the cluster has its quorum throughout.
//
//
func TestBothAreScaledAtOnce(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 3)
	source.put("before")
	moved := join(t, source, "moved", 1, sourced(source, 0, 1, 2))
	writes := moved.write()
	source.scale(1)
	moved.scale(3)
	moved.shares(3)
	source.shares(1)
	moved.lists("main-0", "moved-0", "moved-1", "moved-2")
	stalls := writes.stalls.Load()
	for p, end := range map[*plant]string{source: "ScalingIn from 3 to 1", moved: "ScalingOut from 1 to 3"} {
		story := p.story("ScaleOperationEnded: " + end + " members is done.")
		// On a busy machine members answer late and are called ill, while writes go on.
		if i := slices.IndexFunc(story, func(e string) bool { return strings.HasPrefix(e, v1alpha1.EventQuorumLost) }); i >= 0 && stalls > 0 {
			t.Errorf("%s: %s, and %d writes stalled", p.name, story[i], stalls)
		}
	}
	writes.kept()
	moved.kept()
}

// A joined Etcd that is deleted takes its members out safely, one by one; the source
// goes on with all that was written.
func TestJoinedEtcdIsDeleted(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 1)
	source.put("before")
	moved := join(t, source, "moved", 2, sourced(source, 0))
	moved.put("joined")
	moved.lead(1)
	writes := source.write()
	must(t, admin.Delete(t.Context(), moved.get()))
	must(t, cluster.Until(t.Context(), "the joined Etcd to be gone", moved.absent))
	source.lists("main-0")
	source.written = moved.written
	source.settled(1)
	writes.kept()
	source.kept()
}

func (p *plant) absent(ctx context.Context) error {
	err := admin.Get(ctx, p.key(), &v1alpha1.Etcd{})
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	return fmt.Errorf("%w: it is there (%v)", errNotYet, err) //nolint:errorlint // nil is a likely one
}

// Deletion ends when every member is dead: at once where nobody shares the cluster,
// and after the progress deadline, with a warning, where somebody does.
func TestDeletionOfTheDead(t *testing.T) {
	t.Parallel()
	quick := func(e *v1alpha1.Etcd) { e.Spec.ProgressDeadlineSeconds = ptr.To[int32](30) }
	source := newPlant(t, 1, quick)
	moved := join(t, source, "moved", 1, sourced(source, 0), quick)
	source.down(0)
	moved.down(0)
	before := metav1.Now()
	must(t, admin.Delete(t.Context(), moved.get()))
	must(t, cluster.Until(t.Context(), "the joined Etcd to be gone", moved.absent))
	if waited := metav1.Now().Sub(before.Time).Seconds(); waited < 29 {
		t.Errorf("gone after %.0f s: members of a shared cluster have 30 s to leave it safely", waited)
	}
	moved.told("MembersAbandoned: The shared cluster has given no member list for 30s")

	alone := newPlant(t, 1)
	alone.down(0)
	before = metav1.Now()
	must(t, admin.Delete(t.Context(), alone.get()))
	must(t, cluster.Until(t.Context(), "the Etcd to be gone", alone.absent))
	t.Logf("gone after %.0f s", metav1.Now().Sub(before.Time).Seconds())
	if claims, err := alone.claims(t.Context()); err != nil || len(claims) != 1 {
		t.Errorf("volumes %v (%v), want the one there was", claims, err)
	}
}
