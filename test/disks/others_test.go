package disks

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/quorate/quorate/test/etcdcluster"
)

// restoredFounder restores the whole cluster from a snapshot under its old token, on
// the node of the founder that was removed while healthy.
func (e *estate) restoredFounder(c *etcdcluster.Cluster, snapshot string) {
	var founders []*etcdcluster.Member
	for i := range 6 {
		founders = append(founders, c.Member(fmt.Sprintf("etcd-%d", i)))
	}
	dir := filepath.Join(e.dir, "kept", "a removed founder's, restored from a snapshot")
	must(e.t, e.release.Restore(e.t.Context(), snapshot, dir, founders[4], founders...))
	before := e.disks["removed while healthy"]
	e.own(filepath.Base(dir), dir, founders[4], uint64(before.memberID), uint64(before.clusterID))
}

// incarnations writes the disks of a cluster of one, of its successors on the same
// addresses under another token and under the same, and of restores of it.
func (e *estate) incarnations() {
	first := e.cluster("first", "first token", "")
	m := first.Member("etcd-0")
	must(e.t, first.Form(e.t.Context(), []*etcdcluster.Member{m}, nil))
	id := e.list("the other cluster", first)
	member := e.id(first, m)
	snapshot := filepath.Join(e.dir, "first.snapshot")
	must(e.t, first.Snapshot(e.t.Context(), m, snapshot))
	must(e.t, m.Stop())
	e.keep("another cluster's", m, member, id)
	e.recreate(first, "recreated", "second token")
	e.recreate(first, "recreated with the same token", first.Token)
	e.restore(first, snapshot, member, id)
}

// recreate forms a cluster anew with the same names and URLs.
func (e *estate) recreate(c *etcdcluster.Cluster, name, token string) {
	again := e.cluster(name, token, c.Network)
	m := again.Member("etcd-0")
	must(e.t, again.Form(e.t.Context(), []*etcdcluster.Member{m}, nil))
	e.list(name, again)
	must(e.t, m.Stop())
}

// restore restores twice from one snapshot; the second is started and answers.
func (e *estate) restore(c *etcdcluster.Cluster, snapshot string, member, id uint64) {
	again := e.cluster("restored", c.Token, c.Network)
	m := again.Member("etcd-0")
	for _, name := range []string{"restored from a snapshot", "restored from a snapshot once more"} {
		dir := filepath.Join(e.dir, "kept", name)
		must(e.t, e.release.Restore(e.t.Context(), snapshot, dir, m, m))
		e.own(name, dir, m, member, id)
	}
	must(e.t, etcdcluster.CopyDisk(e.disks["restored from a snapshot once more"].dir, m.DataDir))
	must(e.t, m.Restart())
	must(e.t, again.Healthy(e.t.Context()))
	e.list("restored", again)
	must(e.t, m.Stop())
}

// Segments of a WAL have 64 MB, values 1 MB at most: so many fill two and begin the
// third.
const manyValues = 140

// purged writes the disks of a member whose first segment is gone: the first of them
// goes at the start after the one in which two were filled.
func (e *estate) purged() {
	c := e.cluster("purged", "token of purged", "", "--snapshot-count=20", "--max-wals=1", "--max-snapshots=1", "--unsafe-no-fsync")
	founders := []*etcdcluster.Member{c.Member("etcd-0"), c.Member("etcd-1")}
	must(e.t, c.Form(e.t.Context(), founders, nil))
	client, err := c.Client(e.t.Context(), founders[0])
	must(e.t, err)
	value := string(bytes.Repeat([]byte{'x'}, 1_000_000))
	for range manyValues {
		_, err := client.Put(e.t.Context(), "large", value)
		must(e.t, err)
	}
	must(e.t, client.Close())
	m := founders[1]
	must(e.t, m.Stop())
	must(e.t, m.Restart())
	must(e.t, c.Healthy(e.t.Context()))
	id, member := e.list("before the purged one was removed", c), e.id(c, m)
	must(e.t, m.Stop())
	e.keep("with purged segments", m, member, id)
	must(e.t, m.Restart())
	must(e.t, c.Healthy(e.t.Context()))
	e.remove(c, m, member)
	e.keep("removed, with purged segments", m, member, id)
	e.list("after the purged one was removed", c)
	e.share("removed, with purged segments", "removed, with purged segments")
	first, err := filepath.Glob(filepath.Join(e.disks["with purged segments"].dir, "member", "wal", "0000000000000000-*"))
	if err != nil || len(first) > 0 {
		e.t.Errorf("the first segment was not purged: %v (%v)", first, err)
	}
}
