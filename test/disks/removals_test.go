package disks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/process"
)

// removals writes the disks of one cluster of six founders, of which the last does
// not start at first. Members leave it one by one, each in another way.
func (e *estate) removals() {
	c := e.cluster("main", "token-of-main", "")
	var founders []*etcdcluster.Member
	for i := range 6 {
		founders = append(founders, c.Member(fmt.Sprintf("etcd-%d", i)))
	}
	late := founders[5]
	must(e.t, c.Form(e.t.Context(), founders[:5], founders[5:]))
	id := e.list("a founder has not started", c)
	e.own("a founder's that never started", late.DataDir+"-none", late, e.id(c, late), id)
	e.removedHealthy(c, founders[4], id)
	must(e.t, late.StartAsFounder(founders...))
	must(e.t, c.Healthy(e.t.Context(), late))
	e.removedWhenKilled(c, founders[3], id)
	e.removedWhileDown(c, founders[2], id)
	e.newborn(c, id)
	e.learner(c, id)
	e.uncommitted(c, id)
	e.removedLeader(c, id)
	e.survivors(c, id)
}

// remove removes a member that runs and waits until it has left by itself.
func (e *estate) remove(c *etcdcluster.Cluster, m *etcdcluster.Member, member uint64) {
	e.t.Helper()
	must(e.t, c.Remove(e.t.Context(), m, member))
	must(e.t, m.Ended(e.t.Context()))
}

// join adds a member, starts it as a learner and waits until it has the log.
func (e *estate) join(c *etcdcluster.Cluster, m *etcdcluster.Member) uint64 {
	e.t.Helper()
	member, err := c.Add(e.t.Context(), m, true)
	must(e.t, err)
	e.start(c, m)
	return member
}

func (e *estate) start(c *etcdcluster.Cluster, m *etcdcluster.Member) {
	e.t.Helper()
	must(e.t, m.StartAsJoiner(e.others(c, m)...))
	must(e.t, c.CaughtUp(e.t.Context(), m))
}

// others are all that the list has but for the member itself: etcd wants the very list.
func (e *estate) others(c *etcdcluster.Cluster, m *etcdcluster.Member) []*etcdcluster.Member {
	e.t.Helper()
	listed, err := c.Listed(e.t.Context())
	must(e.t, err)
	return slices.DeleteFunc(listed, func(other *etcdcluster.Member) bool { return other == m })
}

// maxRounds bounds what is repeated since it depends on timing: one removal of 40
// leaves no tombstone.
const maxRounds = 5

// removedHealthy removes a healthy voter, and healthy learners after it until one
// has left its tombstone.
func (e *estate) removedHealthy(c *etcdcluster.Cluster, m *etcdcluster.Member, id uint64) {
	member := e.id(c, m)
	e.remove(c, m, member)
	e.keep("removed while healthy", m, member, id)
	names := []string{"removed while healthy"}
	for !e.buried(e.t.Context(), names[len(names)-1]) {
		if len(names) == maxRounds {
			e.t.Fatalf("none of %d removed members has its tombstone", maxRounds)
		}
		m := c.Member(fmt.Sprintf("etcd-1%d", len(names)))
		member := e.join(c, m)
		e.remove(c, m, member)
		names = append(names, fmt.Sprintf("removed while healthy, %d", len(names)))
		e.keep(names[len(names)-1], m, member, id)
	}
	e.disks["buried"] = e.disks[names[len(names)-1]]
	e.share("removed while healthy", names...)
}

// removedWhenKilled kills members in the instants around their removal: a voter,
// and learners after it.
func (e *estate) removedWhenKilled(c *etcdcluster.Cluster, voter *etcdcluster.Member, id uint64) {
	var names []string
	for i, delay := range []time.Duration{0, 5 * time.Millisecond, answered, answered} {
		m, member := voter, uint64(0)
		if i == 0 {
			member = e.id(c, m)
		} else {
			m = c.Member(fmt.Sprintf("etcd-2%d", i))
			member = e.join(c, m)
		}
		e.kill(c, m, member, delay)
		names = append(names, fmt.Sprintf("killed at its removal, %d", i+1))
		e.keep(names[i], m, member, id)
	}
	e.share("killed at its removal", names...)
}

// answered is a delay that the answer to a removal ends.
const answered = time.Minute

// kill ends the member a while after its removal was asked for. Whether that was
// soon enough to be proposed depends on who led: it is removed in any case.
func (e *estate) kill(c *etcdcluster.Cluster, m *etcdcluster.Member, member uint64, delay time.Duration) {
	e.t.Helper()
	others := slices.DeleteFunc(c.Running(), func(other *etcdcluster.Member) bool { return other == m })
	client, err := c.Client(e.t.Context(), others...)
	must(e.t, err)
	defer client.Close()
	_, err = client.Get(e.t.Context(), "health") // connects
	must(e.t, err)
	ctx, cancel := context.WithTimeout(e.t.Context(), 3*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		_, _ = client.MemberRemove(ctx, member)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(delay):
	}
	// On a slow machine it has left by itself by now: a removed member's disk as well.
	if err := m.Kill(); !errors.Is(err, process.ErrEnded) {
		must(e.t, err)
	}
	<-done
	must(e.t, c.Remove(e.t.Context(), m, member))
}

// removedWhileDown stops a voter before it is removed, and lets it start once more.
func (e *estate) removedWhileDown(c *etcdcluster.Cluster, m *etcdcluster.Member, id uint64) {
	member := e.id(c, m)
	must(e.t, m.Stop())
	must(e.t, c.Remove(e.t.Context(), m, member))
	e.keep("removed while down", m, member, id)
	must(e.t, m.Restart())
	must(e.t, m.Ended(e.t.Context()))
	e.keep("removed while down, and started again", m, member, id)
	e.share("removed while down", "removed while down")
	e.share("removed while down, and started again", "removed while down, and started again")
}

func (e *estate) removedLeader(c *etcdcluster.Cluster, id uint64) {
	leader, err := c.Leader(e.t.Context())
	must(e.t, err)
	member := e.id(c, leader)
	e.remove(c, leader, member)
	e.keep("removed leader", leader, member, id)
	e.share("removed leader", "removed leader")
	must(e.t, c.Healthy(e.t.Context()))
}

// survivors takes the disks of the two members that are left, and the list by
// which all is judged. The first of them goes on.
func (e *estate) survivors(c *etcdcluster.Cluster, id uint64) {
	running := c.Running()
	member := e.id(c, running[1])
	must(e.t, running[1].Stop())
	e.keep("a member's", running[1], member, id)
	must(e.t, running[1].Restart())
	must(e.t, c.Healthy(e.t.Context()))
	e.list("the survivors", c)
	e.keep("a copy of a live member's", running[0], e.id(c, running[0]), id)
	e.own("a running member's", running[0].DataDir, running[0], e.id(c, running[0]), id)
	snapshot := e.dir + "/main.snapshot"
	must(e.t, c.Snapshot(e.t.Context(), running[0], snapshot))
	e.restoredFounder(c, snapshot)
}
