package disks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// errNotYet says that the log has nothing of the removal.
var errNotYet = errors.New("the removal is not in the log")

// uncommitted kills a leader that has its own removal in its log, while nobody else
// has: the others elect another, and it is never removed. They are killed too, since
// the removal waits for them in their sockets.
func (e *estate) uncommitted(c *etcdcluster.Cluster, id uint64) {
	for round := 1; ; round++ {
		leader, err := c.Leader(e.t.Context())
		must(e.t, err)
		member, others := e.id(c, leader), c.Running()
		err = e.halfRemoved(c, leader, member)
		for _, m := range others {
			must(e.t, m.Kill())
		}
		e.keep("removed by nobody but its own log", leader, member, id)
		for _, m := range others {
			if m != leader {
				must(e.t, m.Restart())
			}
		}
		must(e.t, c.Healthy(e.t.Context()))
		e.list("a removal was not committed", c)
		must(e.t, leader.Restart())
		must(e.t, c.Healthy(e.t.Context()))
		if err == nil {
			return
		}
		if round == maxRounds {
			e.t.Fatal(err)
		}
	}
}

func (e *estate) halfRemoved(c *etcdcluster.Cluster, leader *etcdcluster.Member, member uint64) error {
	client, err := c.Client(e.t.Context(), leader)
	must(e.t, err)
	defer client.Close()
	// The connection is there before the others are halted: the leader steps down a
	// second after.
	_, err = client.Get(e.t.Context(), "health")
	must(e.t, err)
	for _, m := range c.Running() {
		if m != leader {
			must(e.t, m.Halt(e.t.Context()))
		}
	}
	ctx, cancel := context.WithTimeout(e.t.Context(), 3*time.Second)
	defer cancel()
	var asked sync.WaitGroup
	defer asked.Wait()
	asked.Go(func() { _, _ = client.MemberRemove(ctx, member) }) // it never answers
	return cluster.Until(ctx, "the removal in the leader's log", func(ctx context.Context) error {
		if w := rejoin.ReadLog(ctx, leader.DataDir, rejoin.ID(member)); !strings.Contains(w.Why, "removes it and is not committed") {
			return fmt.Errorf("%w: %s", errNotYet, w)
		}
		cancel()
		return nil
	})
}
