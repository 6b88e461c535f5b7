package etcds

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// The source's endpoints lead nowhere: nothing is started, the Etcd says whom it waits
// for, and joins when the source is there.
func TestSourceIsUnreachable(t *testing.T) {
	t.Parallel()
	source := &plant{t: t, ns: newNamespace(t), name: "main"}
	moved := &plant{t: t, ns: newNamespace(t), name: "moved"}
	moved.create(1, sourced(source, 0))
	moved.awaits(source)
	source.create(1)
	source.shares(1) // moved may be in its list before all is well
	source.put("source")
	moved.joins(source)
}

// The source's endpoints lead to another cluster after the join has begun: the Etcd
// names both, its member joins neither, and it joins the recorded one when the names
// are right again.
func TestSourceBecomesAnotherCluster(t *testing.T) {
	t.Parallel()
	source, other := newPlant(t, 1), newPlant(t, 1)
	source.put("source")
	other.put("theirs")
	ours, theirs := source.get().Status.ClusterID, other.get().Status.ClusterID
	moved := &plant{t: t, ns: newNamespace(t), name: "moved"}
	housed := moved.unschedulable(0)
	moved.create(1, sourced(source, 0))
	moved.until("the source's cluster to be recorded", func(e *v1alpha1.Etcd) error {
		if e.Status.ClusterID != ours {
			return errNotYet
		}
		return nil
	})
	undivert := source.divert(other)
	moved.blockedBy(v1alpha1.ErrOtherCluster, string(ours), string(theirs), "clientEndpoints to the cluster that it joined")
	moved.told("Blocked: ERR_OTHER_CLUSTER: ")
	housed()
	moved.hears(0, "prepare", fmt.Sprintf("cluster %s answers at %s and this member belongs to %s", theirs, source.service(), ours))
	other.lists("main-0")
	if moved.get().Status.ClusterID != ours {
		t.Errorf("cluster %s is recorded, want %s", moved.get().Status.ClusterID, ours)
	}
	undivert()
	moved.joins(source)
	other.lists("main-0")
	other.kept()
}

// The source's Service has no endpoints: that is told as a source that does not
// answer, no member is started, and the Etcd joins when there are some.
func TestSourceServiceWithoutEndpoints(t *testing.T) {
	t.Parallel()
	source := newPlant(t, 1)
	source.put("source")
	resume := source.unready()
	moved := &plant{t: t, ns: newNamespace(t), name: "moved"}
	moved.create(1, sourced(source, 0))
	moved.awaits(source)
	resume()
	moved.joins(source)
}

// The own client Service has no endpoints: the members answer by their own names, so
// the scale-in goes on.
func TestServiceWithoutEndpoints(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	resume := p.unready()
	p.scale(1)
	p.until("the end of the scale-in", func(e *v1alpha1.Etcd) error {
		if e.Status.ScaleOperation != nil || e.Status.Replicas != 1 || len(e.Status.Members) != 1 {
			return errNotYet
		}
		return nil
	})
	resume()
	p.settled(1)
	p.want(1)
	p.kept()
}

// awaits waits until the Etcd says that its source is silent, and holds it to start
// nothing before it answers.
func (p *plant) awaits(source *plant) {
	p.t.Helper()
	p.blockedBy(v1alpha1.ErrListMembers, "the source does not answer, and nothing is started before it does", source.service())
	p.told("Blocked: ERR_LIST_MEMBERS: the source does not answer")
	if pods, err := p.pods(p.t.Context()); err != nil || len(pods) > 0 {
		p.t.Errorf("%d pods (%v), want none", len(pods), err)
	}
}

// joins waits until an Etcd of one member shares the cluster with a source of one,
// and has all that was written there.
func (p *plant) joins(source *plant) {
	p.t.Helper()
	p.shares(1)
	p.lists(source.pod(0), p.pod(0))
	p.written = source.written
	p.kept()
}

// hears waits until a container of a member has written the text.
func (p *plant) hears(ordinal int, container, text string) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), fmt.Sprintf("%q of %s", text, p.pod(ordinal)), func(context.Context) error {
		if log := shared.Nodes.Logs(p.ns, p.pod(ordinal), container); !strings.Contains(log, text) {
			return fmt.Errorf("%w: %s", errNotYet, tail(log, 4))
		}
		return nil
	}))
}
