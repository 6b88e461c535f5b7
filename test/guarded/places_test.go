package guarded

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// TestJoinsASource: three pods join a cluster that is reached by one endpoint alone,
// since what its members advertise leads nowhere; at their own endpoints somebody
// else answers before the join is recorded.
func TestJoinsASource(t *testing.T) {
	source, err := etcdcluster.New(etcdcluster.Options{Dir: t.TempDir(), Release: release, Token: "source"})
	must(t, err)
	t.Cleanup(func() { must(t, source.Close()) })
	old := source.Member("old-0")
	must(t, old.Launch("--name=old-0", "--data-dir="+old.DataDir, "--listen-peer-urls="+old.PeerURL, "--initial-advertise-peer-urls="+old.PeerURL,
		"--listen-client-urls="+old.ClientURL, "--advertise-client-urls=http://localhost:1", "--initial-cluster=old-0="+old.PeerURL, "--initial-cluster-token=source"))
	must(t, source.Healthy(t.Context(), old))
	stranger, err := etcdcluster.New(etcdcluster.Options{Dir: t.TempDir(), Release: release, Token: "stranger"})
	must(t, err)
	t.Cleanup(func() { must(t, stranger.Close()) })
	must(t, stranger.Form(t.Context(), []*etcdcluster.Member{stranger.Member("else-0")}, nil))

	s := newSet(t, 3, 0)
	s.config.Cluster.Source = []string{old.ClientURL}
	s.config.Cluster.ClientEndpoints = append(s.config.Cluster.ClientEndpoints, stranger.Member("else-0").ClientURL)
	s.scale(3)
	s.ready(s.pods...)
	list, err := source.List(t.Context(), old)
	must(t, err)
	if len(list.Members) != 4 {
		t.Errorf("the source has %d members: %v", len(list.Members), list.Members)
	}
	for _, p := range s.pods {
		if got := rejoin.ReadDisk(p.DataDir).ClusterID; got != rejoin.ID(list.Header.ClusterId) {
			t.Errorf("%s is of cluster %s", p.Name, got)
		}
	}
}

// TestPredecessorsDisks: an Etcd is deleted, its volumes stay, and one of the same
// name is made. No cluster is recorded and nobody answers; the old disks are not
// taken for those of the new one.
func TestPredecessorsDisks(t *testing.T) {
	s := newSet(t, 3, 3)
	s.form()
	for _, p := range s.pods {
		p.rest()
	}
	s.config.Cluster.Token, s.config.Cluster.ID = "another-uid", 0
	s.publish()
	for _, p := range s.pods {
		p.run()
		s.refuses(p, "ErrOtherCluster: another cluster than this member's: ")
	}
}

// TestCopiedDisk: all pods start at once, and the disk of one is a copy of
// another's. It stays out, though nobody answers.
func TestCopiedDisk(t *testing.T) {
	s := newSet(t, 3, 3)
	s.form()
	for _, p := range s.pods {
		p.rest()
	}
	copied := s.pods[2]
	must(t, copied.wipe())
	must(t, etcdcluster.CopyDisk(s.pods[0].DataDir, copied.DataDir))
	copied.run()
	s.refuses(copied, "ErrCopiedVolume: the disk is a copy of another member's: the disk with member ")
	s.pods[0].run()
	s.pods[1].run()
	s.ready(s.pods[:2]...)
}

// TestListChangesBeforeTheFirstStart: between the verdict and etcd's first start,
// which may take as long as an image does, another member is removed. etcd refuses
// the old list; the container starts again with the new one.
func TestListChangesBeforeTheFirstStart(t *testing.T) {
	s := newSet(t, 4, 3)
	s.config.Etcd["strict-reconfig-check"] = false
	s.publish()
	s.form()
	late := s.pods[3]
	s.config.Cluster.Replicas = 4
	s.publish()
	code, err := late.guard(t.Context(), "prepare", "--etcd-config", late.file("etcd.yaml"), "--termination-message", late.file("message"))
	must(t, err)
	if code != 0 {
		t.Fatalf("prepare answered %d", code)
	}
	id, err := s.ID(t.Context(), s.pods[2].Member)
	must(t, err)
	must(t, s.Remove(t.Context(), s.pods[2].Member, id))
	s.pods[2].rest()

	// The container's first start is from before serve's.
	must(t, late.Launch("--config-file="+late.file("etcd.yaml")))
	must(t, late.Ended(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); late.contained(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	s.ready(late)
	s.voters(s.pods[0], s.pods[1], late)

	// From then on the configuration can start no other cluster.
	must(t, cluster.Until(t.Context(), "a configuration for a restart", func(context.Context) error {
		content, err := os.ReadFile(late.file("etcd.yaml"))
		if err == nil {
			err = restarts(string(content), late)
		}
		return err
	}))
}

// TestDatabaseWithoutWAL: a member lost its WAL, and not its database. It is joined
// afresh once it was removed, on a disk without the old database, which is kept.
func TestDatabaseWithoutWAL(t *testing.T) {
	s := newSet(t, 3, 3)
	s.form()
	lost := s.pods[2]
	lost.rest()
	must(t, os.RemoveAll(filepath.Join(lost.DataDir, "member", "wal")))
	lost.run()
	s.refuses(lost, "ErrDiskLost: the member's disk is lost: ")
	id, err := s.ID(t.Context(), lost.Member)
	must(t, err)
	must(t, s.Remove(t.Context(), lost.Member, id))
	s.ready(lost)
	s.voters(s.pods...)
	if _, err := os.Stat(filepath.Join(lost.DataDir, "member.without-wal.0", "snap", "db")); err != nil {
		t.Errorf("the old database was not kept: %v", err)
	}
}
