package etcds

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// A member whose disk was swapped for an empty one has forgotten its votes: it is
// removed and joins afresh.
//
//
func TestLostDisk(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	old, disks := p.ids(), p.disks(3)
	up := p.down(1)
	must(t, shared.Nodes.LoseDisk(p.ns, p.claim(1)))
	up()
	p.replaced(1, old[p.pod(1)])
	p.settled(3)
	p.want(3)
	p.sameBut(old, 1)
	p.told("MemberRemoved: Member main-1 is no member any more.")
	// Its agent may join anew, on the disk that is empty, before it gets another one.
	if p.disks(3)[1] != disks[1] {
		p.told("MemberReplaced: Member main-1 gets a new volume: its disk was lost.")
	}
	p.kept()
}

// With one of three dead already, a member that lost its disk is not removed, nor does
// it start, until the other is back.
//
//
func TestLostDiskWithoutQuorum(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	old := p.ids()
	back, up := p.down(0), p.down(1)
	must(t, shared.Nodes.LoseDisk(p.ns, p.claim(1)))
	up()
	p.until("the loss to be told, and the agent to wait", func(e *v1alpha1.Etcd) error {
		log := shared.Nodes.Logs(p.ns, p.pod(1), "prepare")
		if len(e.Status.LastErrors) == 0 || e.Status.LastErrors[0].Code != v1alpha1.ErrListMembers || !strings.Contains(log, "wait") {
			return fmt.Errorf("%w: %s", errNotYet, log)
		}
		return nil
	})
	if e := p.get(); len(e.Status.RemovedMembers) > 0 {
		t.Errorf("removals without a quorum: %v", e.Status.RemovedMembers)
	}
	back()
	p.replaced(1, old[p.pod(1)])
	p.settled(3)
	p.want(3)
	p.sameBut(old, 1)
	p.kept()
}

// A member that a person removed comes back as a new one, on a new volume, and never as
// who it was.
//
//
func TestRemovedByHand(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	old, disks, c := p.ids(), p.disks(3), p.client()
	must(t, cluster.Until(t.Context(), "etcd to have seen its members connected for a while", func(ctx context.Context) error {
		return etcdcluster.RemoveMember(ctx, c, old[p.pod(1)])
	}))
	quiet := p.watchList(func(members []guard.Member) error {
		for _, m := range members {
			if m.ID == old[p.pod(1)] {
				return fmt.Errorf("%x is back", m.ID)
			}
		}
		return nil
	})
	p.replaced(1, old[p.pod(1)])
	p.settled(3)
	quiet()
	p.want(3)
	p.sameBut(old, 1)
	if now := p.disks(3); now[0] != disks[0] || now[1] == disks[1] || now[2] != disks[2] {
		t.Errorf("disks %v, want the second of %v to be another", now, disks)
	}
	p.kept()
}

// replaced waits until the status has another member in an ordinal's place.
func (p *plant) replaced(ordinal int, old uint64) {
	p.t.Helper()
	p.until(p.pod(ordinal)+" to be another member", func(e *v1alpha1.Etcd) error {
		for _, m := range e.Status.Members {
			if m.Name == p.pod(ordinal) && string(m.ID) != fmt.Sprintf("%x", old) {
				return nil
			}
		}
		return errNotYet
	})
}

// sameBut wants the members from before, and a new one in an ordinal's place.
func (p *plant) sameBut(old map[string]uint64, ordinal int) {
	p.t.Helper()
	for name, id := range p.ids() {
		if (id == old[name]) == (name == p.pod(ordinal)) {
			p.t.Errorf("%s is %x and was %x", name, id, old[name])
		}
	}
}

// watchEvery is short against everything that changes a list.
const watchEvery = 100 * time.Millisecond

// watchList judges every list that can be had until it is told to be quiet.
func (p *plant) watchList(judge func([]guard.Member) error) (quiet func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var watching sync.WaitGroup
	var seen int
	watching.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			if members, err := p.members(ctx); err == nil {
				seen++
				if err := judge(members); err != nil {
					p.t.Errorf("list %d: %v", seen, err)
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	p.t.Cleanup(cancel)
	return func() {
		cancel()
		watching.Wait()
		if seen == 0 {
			p.t.Error("no list was seen")
		}
	}
}
