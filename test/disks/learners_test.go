package disks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// newborn kills a learner as soon as it has a WAL, and removes it then.
func (e *estate) newborn(c *etcdcluster.Cluster, id uint64) {
	m := c.Member("etcd-90")
	member, err := c.Add(e.t.Context(), m, true)
	must(e.t, err)
	must(e.t, m.StartAsJoiner(e.others(c, m)...))
	must(e.t, cluster.Until(e.t.Context(), "the WAL of a learner", func(context.Context) error {
		_, err := os.Stat(filepath.Join(m.DataDir, "member", "wal"))
		return err
	}))
	must(e.t, m.Kill())
	e.keep("a newborn learner's", m, member, id)
	e.list("a newborn learner", c)
	must(e.t, c.Remove(e.t.Context(), m, member))
}

// learner takes the disk of one that is never promoted, before and after its
// removal. Its ID begins with a zero, which etcd does not print.
func (e *estate) learner(c *etcdcluster.Cluster, id uint64) {
	for round := 1; ; round++ {
		m, member := e.shortID(c)
		e.list("a learner was added", c)
		e.own("an added member's that never started", m.DataDir+"-none", m, member, id)
		e.start(c, m)
		e.list("a learner", c)
		must(e.t, m.Stop())
		e.keep("a learner's", m, member, id)
		must(e.t, m.Restart())
		must(e.t, c.CaughtUp(e.t.Context(), m))
		e.remove(c, m, member)
		e.keep("a removed learner's", m, member, id)
		if e.buried(e.t.Context(), "a removed learner's") {
			return
		}
		if round == maxRounds {
			e.t.Fatalf("none of %d removed learners has its tombstone", maxRounds)
		}
	}
}

// shortID adds learners until one's ID has fewer than 16 digits, which one in 16
// has. It is a hash of the peer URL and the second: each needs a URL of its own.
func (e *estate) shortID(c *etcdcluster.Cluster) (*etcdcluster.Member, uint64) {
	e.t.Helper()
	for range 150 {
		e.learners++
		m := c.Member(fmt.Sprintf("etcd-%d", 100+e.learners))
		member, err := c.Add(e.t.Context(), m, true)
		must(e.t, err)
		if member < 1<<60 {
			return m, member
		}
		must(e.t, c.Remove(e.t.Context(), m, member))
	}
	e.t.Fatal("no ID began with a zero")
	return nil, 0
}
