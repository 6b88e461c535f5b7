package etcdclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

func probe(ctx context.Context, m *etcdcluster.Member) (etcd.ProbeResult, error) {
	return etcd.Probe(ctx, etcd.Options{Endpoints: []string{m.ClientURL}})
}

// TestProbe: one member tells of itself and lists all; what is of another cluster is an
// answer, a learner and a lost quorum are none.
func TestProbe(t *testing.T) {
	for _, minor := range []string{"3.5", "3.6", "3.7"} {
		t.Run(minor, func(t *testing.T) {
			c, members := formed(t, minor)
			raw, err := c.Client(t.Context(), members[0])
			must(t, err)
			t.Cleanup(func() { must(t, raw.Close()) })
			put, err := raw.Put(t.Context(), "k", "v")
			must(t, err)
			seen := map[uint64]bool{}
			for _, m := range members {
				p, err := etcd.Probe(t.Context(), etcd.Options{Endpoints: []string{m.ClientURL}, ClusterID: 1})
				must(t, err)
				i := slices.IndexFunc(p.Members, func(l etcd.Listed) bool { return l.ID == p.MemberID })
				if i < 0 || p.Members[i].Name != m.Name || !p.Members[i].Started() || !slices.Equal(p.Members[i].PeerURLs, []string{m.PeerURL}) {
					t.Errorf("%s is not in its own list: %+v", m.Name, p)
				}
				if p.ClusterID != put.Header.ClusterId || p.Revision != put.Header.Revision || p.Leader == 0 || p.Learner || len(p.Members) != 3 {
					t.Errorf("%s says %+v after a write at %v", m.Name, p, put.Header)
				}
				seen[p.MemberID] = true
			}
			if len(seen) != 3 {
				t.Errorf("the members are %v", seen)
			}
			testProbeLearner(t, c, members)
			testProbeWithoutQuorum(t, members)
		})
	}
}

// testProbeLearner: one that has not started is listed; one that runs is told.
func testProbeLearner(t *testing.T, c *etcdcluster.Cluster, members []*etcdcluster.Member) {
	t.Helper()
	learner := c.Member("m-3")
	var id uint64
	must(t, cluster.Until(t.Context(), "the learner to be added", func(ctx context.Context) (err error) {
		id, err = c.Add(ctx, learner, true)
		return err
	}))
	p, err := probe(t.Context(), members[0])
	must(t, err)
	i := slices.IndexFunc(p.Members, func(l etcd.Listed) bool { return l.ID == id })
	if i < 0 || !p.Members[i].Learner || p.Members[i].Started() || p.Members[i].Name != "" {
		t.Errorf("the learner is not listed as one: %+v", p.Members)
	}
	must(t, learner.StartAsJoiner(members...))
	must(t, cluster.Until(t.Context(), "the learner to be told", func(ctx context.Context) error {
		p, err = probe(ctx, learner)
		if !errors.Is(err, etcd.ErrLearner) {
			return fmt.Errorf("it says %+v, %w", p, err)
		}
		return nil
	}))
	if p.MemberID != id || !p.Learner || p.Members != nil || p.ClusterID == 0 {
		t.Errorf("the learner says %+v", p)
	}
}

// testProbeWithoutQuorum: the list is linearizable, so there is none.
func testProbeWithoutQuorum(t *testing.T, members []*etcdcluster.Member) {
	t.Helper()
	must(t, members[1].Kill())
	must(t, members[2].Kill())
	p, err := probe(t.Context(), members[0])
	if err == nil || p.Members != nil || p.MemberID != 0 {
		t.Errorf("without a quorum it says %+v, %v", p, err)
	}
	must(t, members[0].Kill())
	start := time.Now()
	if _, err := probe(t.Context(), members[0]); err == nil || !strings.Contains(err.Error(), "connection refused") || time.Since(start) > etcd.DefaultCallTimeout/2 {
		t.Errorf("nobody is there: %v after %s", err, time.Since(start))
	}
}
