package disks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/etcdcluster"
)

// disk is a data directory and whose it is. The IDs are those that the cluster has
// told, not what the disk says.
type disk struct {
	dir, name, peerURL  string
	memberID, clusterID rejoin.ID
}

// estate is what one release leaves behind: disks, and the lists that its clusters
// gave in the meantime.
type estate struct {
	t       *testing.T
	dir     string
	release etcdcluster.Release
	disks   map[string]disk
	lists   map[string]rejoin.Live
	shares  []string
	// learners counts those that were added for their ID.
	learners int
}

func newEstate(t *testing.T, release etcdcluster.Release) *estate {
	return &estate{t: t, dir: t.TempDir(), release: release, disks: map[string]disk{}, lists: map[string]rejoin.Live{}}
}

// cluster makes one without members, which ends with the test.
func (e *estate) cluster(name, token string, network etcdcluster.Network, flags ...string) *etcdcluster.Cluster {
	e.t.Helper()
	c, err := etcdcluster.New(etcdcluster.Options{
		Dir: filepath.Join(e.dir, name), Release: e.release, Token: token, Network: network,
		// The server's own check waits for peers to be connected for 5 s, once for each
		// removal; it is in front of what is written, and changes none of it.
		Flags: append(flags, "--strict-reconfig-check=false"),
	})
	must(e.t, err)
	e.t.Cleanup(func() { must(e.t, c.Close()) })
	return c
}

// keep copies a member's disk aside as it is now.
func (e *estate) keep(name string, m *etcdcluster.Member, member, cluster uint64) {
	e.t.Helper()
	dir := filepath.Join(e.dir, "kept", name)
	must(e.t, os.RemoveAll(dir)) // another round's
	must(e.t, etcdcluster.CopyDisk(m.DataDir, dir))
	e.own(name, dir, m, member, cluster)
}

// own gives a name to a disk that is used where it is.
func (e *estate) own(name, dir string, m *etcdcluster.Member, member, cluster uint64) {
	e.disks[name] = disk{dir, m.Name, m.PeerURL, rejoin.ID(member), rejoin.ID(cluster)}
}

// list takes down what the cluster answers now, and its ID.
func (e *estate) list(name string, c *etcdcluster.Cluster) uint64 {
	e.t.Helper()
	answer, err := c.List(e.t.Context())
	must(e.t, err)
	e.lists[name] = liveOf(answer)
	return answer.Header.ClusterId
}

func liveOf(answer *clientv3.MemberListResponse) rejoin.Live {
	live := rejoin.Live{Answered: true, ClusterID: rejoin.ID(answer.Header.ClusterId)}
	for _, m := range answer.Members {
		live.Members = append(live.Members, rejoin.Member{
			ID: rejoin.ID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner,
		})
	}
	return live
}

// id is the member's in the list of now.
func (e *estate) id(c *etcdcluster.Cluster, m *etcdcluster.Member) uint64 {
	e.t.Helper()
	id, err := c.ID(e.t.Context(), m)
	must(e.t, err)
	return id
}

// share takes down how many of the disks have which witness, to be printed.
func (e *estate) share(what string, names ...string) {
	tombstones, logs := 0, 0
	for _, name := range names {
		d := e.disks[name]
		if reader.Tombstone(e.t.Context(), d.dir, d.memberID).Answer == rejoin.Yes {
			tombstones++
		}
		if rejoin.ReadLog(e.t.Context(), d.dir, d.memberID).Answer == rejoin.Yes {
			logs++
		}
	}
	e.shares = append(e.shares, fmt.Sprintf("%s: %d disks, %d with the tombstone, %d with the committed removal in the log", what, len(names), tombstones, logs))
}

// reader has time to start on a busy machine.
var reader = rejoin.Child{Program: os.Args[0], Timeout: 20 * time.Second}

// buried tells whether the member's own tombstone is on its disk.
func (e *estate) buried(ctx context.Context, name string) bool {
	d := e.disks[name]
	return reader.Tombstone(ctx, d.dir, d.memberID).Answer == rejoin.Yes
}
