package etcds

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// A source of our own name in another namespace has members of our names. Scale-in
// and bootstrap removal each take the right ones, and those alone.
//
//
func TestSourceOfOurName(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 2)
	source.put("before")
	moved := joinNamesake(t, source, 2)
	theirs := source.idsIn(source.ns)
	ours := moved.idsIn(moved.ns)
	if len(theirs) != 2 || len(ours) != 2 {
		t.Fatalf("members %v and %v, want two of each", theirs, ours)
	}
	moved.scale(1)
	moved.until("the scale-in to end", func(e *v1alpha1.Etcd) error {
		if e.Status.ScaleOperation != nil || e.Status.ObservedGeneration != e.Generation || e.Status.Replicas != 1 {
			return errNotYet
		}
		return nil
	})
	if got := moved.idsIn(source.ns); !slices.Equal(got, theirs) {
		t.Errorf("the source's members are %v, want %v", got, theirs)
	}
	if got := moved.idsIn(moved.ns); !slices.Equal(got, ours[:1]) {
		t.Errorf("the joined Etcd's members are %v, want %v", got, ours[:1])
	}
	must(t, moved.list(source.listedAs(1)...))
	moved.until("one source member to be recorded", func(e *v1alpha1.Etcd) error {
		if !slices.Equal(recorded(e), []string{"main-1"}) || e.Status.ScaleOperation != nil {
			return errNotYet
		}
		return nil
	})
	if got := moved.idsIn(source.ns); !slices.Equal(got, theirs[1:]) {
		t.Errorf("the source's members are %v, want %v", got, theirs[1:])
	}
	if got := moved.idsIn(moved.ns); !slices.Equal(got, ours[:1]) {
		t.Errorf("the joined Etcd's members are %v, want %v", got, ours[:1])
	}
	moved.kept()
}

// idsIn are those of the live members with peer URLs in a namespace, by their names.
func (p *plant) idsIn(ns string) (ids []uint64) {
	p.t.Helper()
	members := slices.DeleteFunc(p.view().Members, func(m guard.Member) bool { return !strings.Contains(m.PeerURLs[0], "."+ns+".svc:") })
	slices.SortFunc(members, func(a, b guard.Member) int { return strings.Compare(a.PeerURLs[0], b.PeerURLs[0]) })
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return ids
}

// joinNamesake is join for an Etcd of the source's own name.
func joinNamesake(t *testing.T, source *plant, replicas int) *plant {
	t.Helper()
	p := &plant{t: t, ns: newNamespace(t), name: source.name, written: slices.Clone(source.written)}
	p.create(replicas, sourced(source, 0, 1))
	p.until("all members to have joined", func(e *v1alpha1.Etcd) error {
		if condition(e, v1alpha1.ConditionBootstrappedWithExistingCluster).Status != metav1.ConditionTrue || e.Status.ScaleOperation != nil {
			return errNotYet
		}
		return nil
	})
	return p
}
