package etcdcluster

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/test/cluster"
)

// TestAskedAgain: a change of membership whose answer was lost is asked for again, and
// the second answer is that of the first, on each release.
func TestAskedAgain(t *testing.T) {
	for _, release := range releases(t) {
		t.Run(release.Version, func(t *testing.T) {
			c, first := start(t, release)
			client, err := c.Client(t.Context(), first)
			must(t, err)
			defer client.Close()
			m := c.Member("etcd-1")
			ids := twice(t, func(ctx context.Context) (uint64, error) { return AddLearner(ctx, client, m.PeerURL) })
			if ids[0] != ids[1] || ids[0] == 0 {
				t.Errorf("added %x and %x", ids[0], ids[1])
			}
			must(t, m.StartAsJoiner(first))
			twice(t, func(ctx context.Context) (uint64, error) { return 0, promoteMember(ctx, client, ids[0]) })
			want(t, client, 2)
			twice(t, func(ctx context.Context) (uint64, error) { return 0, RemoveMember(ctx, client, ids[0]) })
			want(t, client, 1)
		})
	}
}

// twice waits until a call answers well, and again until it does.
func twice(t *testing.T, call func(context.Context) (uint64, error)) (got [2]uint64) {
	t.Helper()
	for i := range got {
		must(t, cluster.Until(t.Context(), "the change to be answered well", func(ctx context.Context) (err error) {
			got[i], err = call(ctx)
			return err
		}))
	}
	return got
}

func want(t *testing.T, client *clientv3.Client, voters int) {
	t.Helper()
	list, err := client.MemberList(t.Context())
	must(t, err)
	if len(list.Members) != voters {
		t.Errorf("%d members, want %d", len(list.Members), voters)
	}
}
