package machines

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/quorate/quorate/test/talos"
)

// way is a way out of etcd.
type way struct {
	name string
	// prepare makes the world such that it is taken; undo is called once the machine is
	// gone.
	prepare func(*removal) (undo func())
	// must are calls at which deaths are looked for, each before and after the first of
	// its kind.
	must    []string
	middles []middle
	sampled int // deaths of each of its lanes in the sample
}

// middle is a death in the middle of a call: a fault keeps the call there, and the
// process is killed once it is.
type middle struct {
	name, what string
	node       string
	fault      talos.Fault
	there      func(context.Context, *removal) error
}

// always are calls of each way.
var always = []string{
	"view of etcd", "patch talosmachines/status", "patch talosclusters/status", "patch nodes", "post leases", "put leases",
	"post events RemovalApproved", "post events NodeStillHasClusterCredentials", "patch talosmachines",
}

// ways are those on which a process dies.
var ways = []*way{
	{
		name: "the machine leaves",
		// It leads, and has a pod.
		prepare: func(r *removal) func() {
			r.lead(goes)
			r.bare(r.pod, r.talos.Node(goes).NodeName())
			return func() { r.off(r.pod, r.talos.Node(goes).NodeName()) }
		},
		must: append([]string{
			"post pods/eviction", "Version of cp-4", "VerifyCluster of cp-4", "MemberID of cp-4", "Members of cp-4", "ForfeitLeadership of cp-4", "Leave of cp-4",
		}, always...),
		middles: []middle{
			{"it was asked to leave and has not begun", "Leave of cp-4", goes, talos.Slow(leave, limit), asked(leave)},
			{"it is out of etcd and has not stopped its own", "Leave of cp-4", goes, talos.LateLeave(limit), unlisted},
			{"it has left and its answer is lost", "Leave of cp-4", goes, talos.Lose(leave), emptied},
		},
		sampled: 3,
	},
	{
		name: "one that stays removes it",
		prepare: func(r *removal) func() {
			return r.talos.Node(goes).Fault(talos.Silent())
		},
		must: append([]string{"Version of cp-4", "VerifyCluster of cp-1", "Members of cp-1", "RemoveMember of cp-1"}, always...),
		middles: []middle{
			{"it was asked for and has not begun", "RemoveMember of cp-1", "cp-1", talos.Slow(remove, limit), asked(remove)},
			{"it has happened and its answer is lost", "RemoveMember of cp-1", "cp-1", talos.Lose(remove), unlisted},
		},
		sampled: 2, // a machine that is silent takes its time
	},
}

// asked: the call has arrived.
func asked(method string) func(context.Context, *removal) error {
	return func(_ context.Context, r *removal) error {
		if len(r.sent(method)) == 0 {
			return fmt.Errorf("%w: no %s has arrived", errNotYet, method)
		}
		return nil
	}
}

// unlisted: the member is gone.
func unlisted(ctx context.Context, r *removal) error {
	members, err := r.members(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(members, func(m *etcdserverpb.Member) bool { return m.ID == r.id }) {
		return fmt.Errorf("%w: etcd lists it", errNotYet)
	}
	return nil
}

// emptied: its data is gone too.
func emptied(ctx context.Context, r *removal) error {
	has, err := r.talos.Node(goes).HasEtcdData()
	if err == nil && has {
		err = fmt.Errorf("%w: it has its data", errNotYet)
	}
	if err != nil {
		return err
	}
	return unlisted(ctx, r)
}

// points are all deaths of a removal that made these calls.
func (w *way) points(calls []string) []point {
	out, nth := w.amid(), map[string]int{}
	for _, what := range calls {
		nth[what]++
		out = append(out, point{what: what, nth: nth[what], when: before}, point{what: what, nth: nth[what], when: after})
	}
	return out
}

// amid are the deaths in the middle of a call.
func (w *way) amid() (out []point) {
	for i := range w.middles {
		out = append(out, point{what: w.middles[i].what, nth: 1, when: amid, middle: &w.middles[i]})
	}
	return out
}
