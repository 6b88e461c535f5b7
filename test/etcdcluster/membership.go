package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/quorate/quorate/test/cluster"
)

// callTimeout bounds one call; a busy machine may take seconds for an election.
const callTimeout = 10 * time.Second

// Client connects to the given members, or to all voters that run.
func (c *Cluster) Client(ctx context.Context, via ...*Member) (*clientv3.Client, error) {
	if len(via) == 0 {
		via = c.without(nil)
	}
	var endpoints []string
	for _, m := range via {
		endpoints = append(endpoints, m.ClientURL)
	}
	client, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", endpoints, err)
	}
	return client, nil
}

// call runs one call with a client and a deadline of its own.
func (c *Cluster) call(ctx context.Context, what string, via []*Member, do func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	client, err := c.Client(ctx, via...)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := do(ctx, client); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// List is the linearizable member list, by the given members or all voters that run.
func (c *Cluster) List(ctx context.Context, via ...*Member) (list *clientv3.MemberListResponse, err error) {
	err = c.call(ctx, "list the members", via, func(ctx context.Context, client *clientv3.Client) error {
		list, err = client.MemberList(ctx)
		return err
	})
	return list, err
}

// Listed are the members that the list has, whether they run or not: a founder that has
// not started is among them, and a removed member that still runs is not.
func (c *Cluster) Listed(ctx context.Context) ([]*Member, error) {
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(c.members), func(m *Member) bool {
		return !slices.ContainsFunc(list.Members, func(l *etcdserverpb.Member) bool { return slices.Contains(l.PeerURLs, m.PeerURL) })
	}), nil
}

// errNotListed is the error of a member that the list lacks.
var errNotListed = errors.New("the cluster does not list it")

// ID is the member's, by its peer URL in the list.
func (c *Cluster) ID(ctx context.Context, m *Member) (uint64, error) {
	list, err := c.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, listed := range list.Members {
		if slices.Contains(listed.PeerURLs, m.PeerURL) {
			return listed.ID, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", m.Name, errNotListed)
}

// Add tells the cluster of a member, which has no process yet, and answers its ID.
func (c *Cluster) Add(ctx context.Context, m *Member, learner bool) (id uint64, err error) {
	err = c.call(ctx, "add "+m.Name, c.without(m), func(ctx context.Context, client *clientv3.Client) error {
		add := client.MemberAdd
		if learner {
			add = client.MemberAddAsLearner
		}
		added, err := add(ctx, []string{m.PeerURL})
		if err == nil {
			id, m.learner = added.Member.ID, learner
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return id, c.heard(ctx, m, id)
}

var errUnheard = errors.New("its list does not have the new member yet")

// heard waits until each of the others that answers has the new member in its own list:
// a member that starts asks any of them, and ends where that one lags behind.
func (c *Cluster) heard(ctx context.Context, m *Member, id uint64) error {
	for _, other := range c.without(m) {
		err := cluster.Until(ctx, other.Name+" to hear of "+m.Name, func(ctx context.Context) error {
			return c.call(ctx, "list by "+other.Name, []*Member{other}, func(ctx context.Context, client *clientv3.Client) error {
				list, err := client.MemberList(ctx, clientv3.WithSerializable())
				if err != nil {
					return nil // who does not answer is not asked by the new one either
				}
				if !slices.ContainsFunc(list.Members, func(l *etcdserverpb.Member) bool { return l.ID == id }) {
					return errUnheard
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Promote makes a voter of a learner, as soon as etcd allows it.
func (c *Cluster) Promote(ctx context.Context, m *Member) error {
	id, err := c.ID(ctx, m)
	if err != nil {
		return err
	}
	return cluster.Until(ctx, m.Name+" to be promoted", func(ctx context.Context) error {
		return c.call(ctx, "promote "+m.Name, c.without(m), func(ctx context.Context, client *clientv3.Client) error {
			err := promoteMember(ctx, client, id)
			m.learner = err != nil
			return err
		})
	})
}

// Remove removes a member by its ID, through the others that run.
func (c *Cluster) Remove(ctx context.Context, m *Member, id uint64) error {
	return cluster.Until(ctx, m.Name+" to be removed", func(ctx context.Context) error {
		return c.call(ctx, "remove "+m.Name, c.without(m), func(ctx context.Context, client *clientv3.Client) error {
			return RemoveMember(ctx, client, id)
		})
	})
}

// without are the voters that run, but for one. Learners serve neither the list nor
// changes of it.
func (c *Cluster) without(m *Member) []*Member {
	return slices.DeleteFunc(c.Running(), func(r *Member) bool { return r == m || r.learner })
}

// Leader is the member that leads.
func (c *Cluster) Leader(ctx context.Context) (leader *Member, err error) {
	err = cluster.Until(ctx, "a leader", func(ctx context.Context) error {
		for _, m := range c.Running() {
			if leads, err := c.leads(ctx, m); err != nil || leads {
				leader = m
				return err
			}
		}
		return errors.New("none of those that run leads")
	})
	return leader, err
}

func (c *Cluster) leads(ctx context.Context, m *Member) (bool, error) {
	status, err := c.status(ctx, m)
	return err == nil && status.Leader == status.Header.MemberId, err
}

// Snapshot saves the database of a member to a file, with the checksum at its end
// that a restore asks for.
func (c *Cluster) Snapshot(ctx context.Context, m *Member, file string) error {
	return c.call(ctx, "save a snapshot of "+m.Name, []*Member{m}, func(ctx context.Context, client *clientv3.Client) error {
		stream, err := client.Snapshot(ctx)
		if err != nil {
			return err
		}
		defer stream.Close()
		out, err := os.Create(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, stream)
		return errors.Join(err, out.Close())
	})
}
