package talos

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
)

// TestFormation walks three control planes from empty disks to a cluster.
func TestFormation(t *testing.T) {
	c, err := New(t.Context(), Options{ControlPlanes: 3, Bundle: shared.Bundle(), Timing: Timing{PromoteEvery: time.Hour}})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	first, second, third := c.Node("cp-1"), c.Node("cp-2"), c.Node("cp-3")
	for _, n := range c.Nodes() {
		must(t, n.PowerOn())
	}
	t.Run("an empty node is Preparing", func(t *testing.T) {
		until(t, "cp-1 to be Preparing", func() bool { return first.Service("etcd") == "Preparing" })
		if has, err := first.HasEtcdData(); has || err != nil {
			t.Errorf("it has data: %v, %v", has, err)
		}
	})
	t.Run("any entry forbids a bootstrap", func(t *testing.T) {
		stray := filepath.Join(first.DiskPath("EPHEMERAL", "lib", "etcd"), "stray")
		must(t, os.WriteFile(stray, nil, 0o600))
		answers(t, bootstrap(t, first), codes.AlreadyExists, "etcd data directory is not empty")
		must(t, os.Remove(stray))
	})
	t.Run("bootstrap founds once", func(t *testing.T) {
		must(t, bootstrap(t, first))
		must(t, first.Voting(t.Context()))
		answers(t, bootstrap(t, first), codes.AlreadyExists, "etcd data directory is not empty")
	})
	t.Run("others join by themselves, one learner at a time", func(t *testing.T) { testOneLearner(t, c) })
	t.Run("a learner shows no member", func(t *testing.T) {
		for _, n := range []*Node{second, third} {
			if id, err := n.MemberID(t.Context()); err == nil {
				t.Errorf("%s shows the member %x", n.Name, id)
			}
		}
	})
	t.Run("the member of the same name is removed, and a learner promoted", func(t *testing.T) { testEvicts(t, c) })
	t.Run("a node that is added joins", func(t *testing.T) { testAdded(t, c) })
}

func bootstrap(t *testing.T, n *Node) error {
	t.Helper()
	return admin(t, n).Bootstrap(within(t, time.Minute), &machine.BootstrapRequest{})
}

func learners(t *testing.T, n *Node) (out []*machine.EtcdMember) {
	t.Helper()
	for _, m := range listed(t, n) {
		if m.IsLearner {
			out = append(out, m)
		}
	}
	return out
}

func testOneLearner(t *testing.T, c *Cluster) {
	until(t, "a learner that has started", func() bool {
		l := learners(t, c.Node("cp-1"))
		return len(l) == 1 && l[0].Hostname != ""
	})
	joined := learners(t, c.Node("cp-1"))[0]
	if joined.PeerUrls[0] != c.Node(joined.Hostname).PeerURL() {
		t.Errorf("the learner is %v", joined)
	}
	waiting := "cp-2"
	if joined.Hostname == "cp-2" {
		waiting = "cp-3"
	}
	if state := c.Node(waiting).Service("etcd"); state != "Preparing" {
		t.Errorf("the other one is %s", state)
	}
}

// testEvicts lets the learner begin anew, now with promotions that come soon.
func testEvicts(t *testing.T, c *Cluster) {
	before := learners(t, c.Node("cp-1"))[0]
	for _, n := range c.Nodes() {
		n.SetTiming(func(timing *Timing) { timing.PromoteEvery = 100 * time.Millisecond })
	}
	n := c.Node(before.Hostname)
	n.PowerOff()
	must(t, n.disk.wipe("EPHEMERAL"))
	must(t, n.PowerOn())
	whole(t, c)
	list := listed(t, c.Node("cp-1"))
	if names(list) != "cp-1 cp-2 cp-3" || find(list, n.Name).Id == before.Id || len(learners(t, c.Node("cp-1"))) != 0 {
		t.Errorf("the members are %v, before %v", list, before)
	}
}

func testAdded(t *testing.T, c *Cluster) {
	if _, err := c.Add("cp-1", false); !errors.Is(err, errNameTaken) {
		t.Errorf("a second cp-1: %v", err)
	}
	n, err := c.Add("cp-4", false)
	must(t, err)
	n.SetTiming(func(timing *Timing) { timing.PromoteEvery = 100 * time.Millisecond })
	must(t, n.PowerOn())
	whole(t, c)
	if got := names(listed(t, n)); got != "cp-1 cp-2 cp-3 cp-4" {
		t.Errorf("the members are %s", got)
	}
}

// TestJoinGivesUp: after its patience the service has failed for good.
func TestJoinGivesUp(t *testing.T) {
	c, err := New(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle(), Timing: Timing{JoinPatience: 100 * time.Millisecond}})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	must(t, n.PowerOn())
	until(t, "etcd to have failed", func() bool { return n.Service("etcd") == "Failed" })
	info, err := admin(t, n).ServiceInfo(within(t, quick), "etcd")
	must(t, err)
	events := info[0].Service.Events.Events
	if last := events[len(events)-1].Msg; !strings.HasPrefix(last, "failed to build initial etcd cluster: ") {
		t.Errorf("its last event is %q", last)
	}
}
