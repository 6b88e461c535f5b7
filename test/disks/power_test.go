package disks

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/etcdcluster"
)

// TestPowerFailureBeforeARemoval: the ledger says that a member is to be removed, and
// the removal was never asked for when all members lost power. One of the others is
// lost for good, so the cluster waits for this very member: it starts.
//
//
func TestPowerFailureBeforeARemoval(t *testing.T) {
	releases, err := etcdcluster.Releases(t.Context(), etcdcluster.All, os.Stderr)
	must(t, err)
	for _, release := range releases {
		t.Run(release.Version, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t, release)
			c := e.cluster("main", "token", "")
			members := []*etcdcluster.Member{c.Member("etcd-0"), c.Member("etcd-1"), c.Member("etcd-2")}
			must(t, c.Form(t.Context(), members, nil))
			id, victim := e.list("before", c), members[2]
			e.own("victim's", victim.DataDir, victim, e.id(c, victim), id)
			for _, m := range members {
				must(t, m.Kill())
			}
			must(t, os.RemoveAll(members[0].DataDir))
			must(t, members[1].Restart())
			short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			if err := c.Healthy(short, members[1]); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("one of three has a quorum: %v", err)
			}
			e.check(t, row{disk: "victim's", ledger: intended, want: doubted("ledger no (intended, not confirmed)")})
			must(t, victim.Restart())
			must(t, c.Healthy(t.Context()))
			e.list("after", c)
			must(t, victim.Stop())
			e.check(t, row{disk: "victim's", list: "after", ledger: intended, want: starts(rejoin.ByList)})
		})
	}
}
