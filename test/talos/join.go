package talos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// joinTimeout bounds one try to join.
const joinTimeout = 30 * time.Second

// prepare decides how etcd begins, after a recovery if one was asked for. A data directory with anything in it: as it is. An
// empty one: as a founder if a bootstrap was asked for, else by joining.
func (e *etcdService) prepare(ctx context.Context) (start, error) {
	n := e.boot.node
	if e.recovery != nil {
		if err := e.restore(ctx); err != nil {
			return start{}, err
		}
	}
	empty, err := n.disk.etcdEmpty()
	if err != nil || !empty {
		return start{}, err
	}
	if e.bootstrap {
		return start{initial: n.Name + "=" + n.PeerURL(), state: "new"}, nil
	}
	return e.join(ctx)
}

// join tries again and again until the cluster has taken the node as a learner.
func (e *etcdService) join(ctx context.Context) (start, error) {
	ctx, cancel := context.WithTimeout(ctx, e.boot.node.Timing().JoinPatience)
	defer cancel()
	for {
		s, err := e.tryJoin(ctx)
		if err == nil {
			return s, nil
		}
		if pause(ctx, e.boot.node.Timing().JoinEvery) != nil {
			return start{}, fmt.Errorf("failed to build initial etcd cluster: failed to build cluster arguments: %w", err)
		}
	}
}

// tryJoin removes a member of the node's own name, whoever that is, and adds the node
// as a learner. etcd itself refuses a second learner, and any while it is not healthy.
func (e *etcdService) tryJoin(ctx context.Context) (start, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	client, err := e.boot.clusterClient(ctx)
	if err != nil {
		return start{}, err
	}
	defer client.Close()
	ctx = clientv3.WithRequireLeader(ctx)
	if err := evict(ctx, client, e.boot.node.Name); err != nil {
		return start{}, err
	}
	added, err := client.MemberAddAsLearner(ctx, []string{e.boot.node.PeerURL()})
	if err != nil {
		return start{}, fmt.Errorf("error adding member: %w", err)
	}
	list, err := client.MemberList(ctx)
	if err != nil {
		return start{}, fmt.Errorf("error getting second etcd member list: %w", err)
	}
	return start{initial: initialCluster(list.Members, added.Member.ID, e.boot.node.Name), state: "existing", learner: added.Member.ID}, nil
}

func evict(ctx context.Context, client *clientv3.Client, name string) error {
	list, err := client.MemberList(ctx)
	if err != nil {
		return fmt.Errorf("error getting etcd member list: %w", err)
	}
	for _, m := range list.Members {
		if m.Name != name {
			continue
		}
		if _, err := client.MemberRemove(ctx, m.ID); err != nil {
			return fmt.Errorf("error removing self from the member list: %w", err)
		}
	}
	return nil
}

func initialCluster(members []*etcdserverpb.Member, own uint64, name string) string {
	var out []string
	for _, m := range members {
		called := m.Name
		if m.ID == own {
			called = name
		}
		for _, url := range m.PeerURLs {
			out = append(out, called+"="+url)
		}
	}
	return strings.Join(out, ",")
}

// promote asks one control plane after the other to make a voter of the learner: one
// endpoint a call, since a learner that is asked never promotes itself.
func (e *etcdService) promote(ctx context.Context, learner uint64) {
	ctx, cancel := context.WithTimeout(ctx, e.boot.node.Timing().PromotePatience)
	defer cancel()
	for pause(ctx, e.boot.node.Timing().PromoteEvery) == nil {
		for _, endpoint := range e.boot.node.cluster.etcdEndpoints() {
			if e.tryPromote(ctx, endpoint, learner) == nil {
				return
			}
		}
	}
}

// promoteTimeout bounds one call: a learner that cannot be promoted yet answers at once.
const promoteTimeout = 5 * time.Second

func (e *etcdService) tryPromote(ctx context.Context, endpoint string, learner uint64) error {
	ctx, cancel := context.WithTimeout(ctx, promoteTimeout)
	defer cancel()
	client, err := e.boot.etcdClient(ctx, endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.MemberPromote(ctx, learner)
	return err
}
