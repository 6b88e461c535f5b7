// Package etcdclient tests internal/etcd against real members.
package etcdclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// formed is a cluster of three that serves.
func formed(t *testing.T, minor string) (*etcdcluster.Cluster, []*etcdcluster.Member) {
	t.Helper()
	releases, err := etcdcluster.Releases(t.Context(), minor, os.Stderr)
	must(t, err)
	c, err := etcdcluster.New(etcdcluster.Options{Dir: t.TempDir(), Release: releases[0], Token: "t"})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	members := []*etcdcluster.Member{c.Member("m-0"), c.Member("m-1"), c.Member("m-2")}
	must(t, c.Form(t.Context(), members, nil))
	return c, members
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, o etcd.Options, via ...*etcdcluster.Member) *etcd.Client {
	t.Helper()
	for _, m := range via {
		o.Endpoints = append(o.Endpoints, m.ClientURL)
	}
	c, err := etcd.New(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func named(t *testing.T, v *etcd.View, name string) guard.Member {
	t.Helper()
	i := slices.IndexFunc(v.Members, func(m guard.Member) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no %s in %+v", name, v.Members)
	}
	return v.Members[i]
}

// seen waits until the view is as it should be: a member's health is known to etcd
// a moment after it changed.
func seen(t *testing.T, c *etcd.Client, what string, check func(v *etcd.View) bool) *etcd.View {
	t.Helper()
	var last *etcd.View
	must(t, cluster.Until(t.Context(), what, func(ctx context.Context) error {
		v, err := c.View(ctx)
		if err != nil {
			return err
		}
		if last = v; !check(v) {
			return fmt.Errorf("it is %+v, %v", v.Members, v.Complaints)
		}
		return nil
	}))
	return last
}

func count(v *etcd.View, is func(guard.Member) bool) (n int) {
	for _, m := range v.Members {
		if is(m) {
			n++
		}
	}
	return n
}

func healthy(m guard.Member) bool { return m.Healthy }

// TestView walks a real cluster through what a removal has to see.
//
func TestView(t *testing.T) {
	for _, minor := range []string{"3.5", "3.6", "3.7"} {
		t.Run(minor, func(t *testing.T) {
			c, members := formed(t, minor)
			e := client(t, etcd.Options{}, members...)
			v := seen(t, e, "three healthy members", func(v *etcd.View) bool { return count(v, healthy) == 3 })
			if n := count(v, func(m guard.Member) bool { return m.Leader }); n != 1 || len(v.Complaints) > 0 {
				t.Errorf("%d leaders, complaints %v", n, v.Complaints)
			}

			testMoveLeader(t, e, members)
			testAlarms(t, c, e, members)

			must(t, members[2].Kill())
			v = seen(t, e, "m-2 to be ill", func(v *etcd.View) bool { return count(v, healthy) == 2 })
			if m := named(t, v, "m-2"); m.Healthy || !m.Started || v.Complaints[m.ID] == "" {
				t.Errorf("m-2 is %+v: %q", m, v.Complaints[m.ID])
			}
			testRemove(t, c, e, v)
			testStrangers(t, v, members)
		})
	}
}

func testMoveLeader(t *testing.T, e *etcd.Client, members []*etcdcluster.Member) {
	t.Helper()
	v, err := e.View(t.Context())
	must(t, err)
	i := slices.IndexFunc(v.Members, func(m guard.Member) bool { return m.Leader })
	leader := v.Members[i]
	next, ok := guard.Successor(v.Members, []guard.Member{leader})
	if !ok {
		t.Fatalf("nobody can lead after %+v: %+v", leader, v.Members)
	}
	via, err := e.Via(t.Context(), v.ClientURLs[leader.ID])
	must(t, err)
	defer func() { must(t, via.Close()) }()
	must(t, via.MoveLeader(t.Context(), next.ID))
	seen(t, e, next.Name+" to lead", func(v *etcd.View) bool { return named(t, v, next.Name).Leader })
}

// testAlarms: NOSPACE is no illness; CORRUPT is that of its own member alone.
func testAlarms(t *testing.T, c *etcdcluster.Cluster, e *etcd.Client, members []*etcdcluster.Member) {
	t.Helper()
	v, err := e.View(t.Context())
	must(t, err)
	ill, full := named(t, v, "m-1"), named(t, v, "m-0")
	alarm := func(action etcdserverpb.AlarmRequest_AlarmAction) {
		t.Helper()
		raw, err := c.Client(t.Context(), members...)
		must(t, err)
		defer raw.Close()
		maintenance := etcdserverpb.NewMaintenanceClient(raw.ActiveConnection())
		for id, kind := range map[uint64]etcdserverpb.AlarmType{ill.ID: etcdserverpb.AlarmType_CORRUPT, full.ID: etcdserverpb.AlarmType_NOSPACE} {
			_, err := maintenance.Alarm(t.Context(), &etcdserverpb.AlarmRequest{Action: action, MemberID: id, Alarm: kind})
			must(t, err)
		}
	}
	alarm(etcdserverpb.AlarmRequest_ACTIVATE)
	v = seen(t, e, "m-1 to be corrupt, and nobody else to be ill", func(v *etcd.View) bool {
		return count(v, healthy) == 2 && !named(t, v, "m-1").Healthy
	})
	if v.Complaints[ill.ID] != "it has raised the alarm CORRUPT" || !slices.Equal(v.Alarms[full.ID], []string{"NOSPACE"}) {
		t.Errorf("complaints %v, alarms %v", v.Complaints, v.Alarms)
	}
	alarm(etcdserverpb.AlarmRequest_DEACTIVATE)
	seen(t, e, "nobody to be ill", func(v *etcd.View) bool { return count(v, healthy) == 3 })
}

// testRemove: the dead member may go; a second time it is gone already.
func testRemove(t *testing.T, c *etcdcluster.Cluster, e *etcd.Client, v *etcd.View) {
	t.Helper()
	dead := named(t, v, "m-2")
	if verdict := guard.MayRemove(v.Members, dead.ID); !verdict.Safe {
		t.Fatalf("%+v", verdict)
	}
	if verdict := guard.MayRemove(v.Members, named(t, v, "m-1").ID); verdict.Safe {
		t.Fatalf("the second healthy one may go: %+v", verdict)
	}
	must(t, e.Remove(t.Context(), dead.ID))
	must(t, e.Remove(t.Context(), dead.ID))
	fresh := c.Member("m-3")
	// etcd wants its peers to have been connected for a while first.
	must(t, cluster.Until(t.Context(), "the learner to be added", func(ctx context.Context) error {
		_, err := c.Add(ctx, fresh, true)
		return err
	}))
	after := seen(t, e, "two members and a learner that never started", func(v *etcd.View) bool { return len(v.Members) == 3 })
	m := named(t, after, "")
	if !m.Learner || m.Started || m.Healthy || !slices.Equal(m.PeerURLs, []string{fresh.PeerURL}) {
		t.Errorf("the learner is %+v", m)
	}
}

// testStrangers: another cluster's ID is an error, and so is a silent cluster.
func testStrangers(t *testing.T, v *etcd.View, members []*etcdcluster.Member) {
	t.Helper()
	if _, err := client(t, etcd.Options{ClusterID: v.ClusterID + 1}, members[0]).View(t.Context()); !errors.Is(err, etcd.ErrOtherCluster) {
		t.Errorf("another cluster: %v", err)
	}
	must(t, members[1].Kill())
	if _, err := client(t, etcd.Options{}, members[0]).View(t.Context()); err == nil || !strings.Contains(err.Error(), "list the members of etcd at") {
		t.Errorf("without a quorum: %v", err)
	}
}
