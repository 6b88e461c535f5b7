package etcds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/test/cluster"
)

//
func TestHibernateAndWake(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	ids, disks := p.ids(), p.disks(3)
	p.scale(0)
	p.asleep(3)
	p.refused(1, "wake-at-recorded-size")
	p.refused(5, "wake-at-recorded-size")
	p.scale(3)
	p.settled(3)
	p.want(3)
	if got := p.ids(); !maps.Equal(got, ids) {
		t.Errorf("members %v, want those from before: %v", got, ids)
	}
	if got := p.disks(3); !slices.Equal(got, disks) {
		t.Errorf("disks %v, want those from before: %v", got, disks)
	}
	p.kept()
}

// A scale-in sleeps with its cluster, and goes on when it wakes.
//
//
func TestHibernateHalfWayIn(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	goOn := p.half(1)
	p.scale(0)
	p.asleep(3)
	goOn()
	p.refused(3, "wake-at-recorded-size")
	p.scale(1)
	p.settled(1)
	p.want(1)
	p.podsAre(1)
	p.kept()
}

// The same where the cluster has lost its quorum before it sleeps, and where a member
// that stays is still dead when it wakes.
//
//
func TestHibernateHalfWayInWithoutQuorum(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 5)
	p.put("five")
	goOn := p.half(3)
	first, second := p.down(0), p.down(1)
	goOn()
	p.until("the loss to be told", func(e *v1alpha1.Etcd) error {
		if !meta.IsStatusConditionFalse(e.Status.Conditions, v1alpha1.ConditionQuorate) {
			return errNotYet
		}
		return nil
	})
	p.scale(0)
	p.asleep(5)
	second()
	p.scale(3)
	p.until("the other member to be removed with one dead", func(*v1alpha1.Etcd) error {
		names, err := p.tryNames()
		if err == nil && len(names) != 3 {
			err = fmt.Errorf("%w: members %v", errNotYet, names)
		}
		return err
	})
	first()
	p.settled(3)
	p.want(3)
	p.podsAre(3)
	p.kept()
}

// asleep waits until nothing runs, and wants every volume to be there.
func (p *plant) asleep(volumes int) {
	p.t.Helper()
	p.until("the cluster to sleep", func(e *v1alpha1.Etcd) error {
		ready := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady)
		if e.Status.ObservedGeneration != e.Generation || e.Status.Replicas != 0 || ready.Reason != v1alpha1.ReasonHibernated {
			return errNotYet
		}
		return nil
	})
	p.podsAre(0)
	must(p.t, cluster.Until(p.t.Context(), "nothing to run", func(context.Context) error {
		for i := range volumes {
			if shared.Nodes.Running(p.ns, p.pod(i)) {
				return errRunning
			}
		}
		return nil
	}))
	if got, err := p.claims(p.t.Context()); err != nil || len(got) != volumes {
		p.t.Errorf("volumes %v (%v), want %d", got, err, volumes)
	}
}

// ids are the live members' by their names.
func (p *plant) ids() map[string]uint64 {
	p.t.Helper()
	out := map[string]uint64{}
	for _, m := range p.view().Members {
		out[m.Name] = m.ID
	}
	return out
}

// disks are the folders behind the volumes of the first ordinals.
func (p *plant) disks(ordinals int) (out []string) {
	p.t.Helper()
	for i := range ordinals {
		disk, err := shared.Nodes.DiskPath(p.ns, p.claim(i))
		must(p.t, err)
		out = append(out, disk)
	}
	return out
}

// members is the live list, asked of the Service and of each member that may be there.
func (p *plant) members(ctx context.Context) ([]guard.Member, error) {
	var errs error
	for _, urls := range [][]string{{p.service()}, {p.member(0), p.member(1), p.member(2)}} {
		v, err := viewAt(ctx, p.tls, urls...)
		if err == nil {
			return v.Members, nil
		}
		errs = err
	}
	return nil, errs
}

func (p *plant) tryNames() (names []string, err error) {
	members, err := p.members(p.t.Context())
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names, err
}

// find looks for an ID in the live list, and at for the member of an ordinal.
func (p *plant) find(id uint64) (guard.Member, bool) {
	p.t.Helper()
	return p.search(func(m guard.Member) bool { return m.ID == id })
}

func (p *plant) at(ordinal int) (guard.Member, bool) {
	p.t.Helper()
	return p.search(func(m guard.Member) bool { return m.Name == p.pod(ordinal) })
}

func (p *plant) search(is func(guard.Member) bool) (guard.Member, bool) {
	p.t.Helper()
	members, err := p.members(p.t.Context())
	must(p.t, err)
	if i := slices.IndexFunc(members, is); i >= 0 {
		return members[i], true
	}
	return guard.Member{}, false
}
