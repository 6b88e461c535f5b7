package etcdcluster

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/test/cluster"
)

// tryTimeout bounds one question to a member that may not listen yet: a client that
// was refused waits for longer and longer.
const tryTimeout = time.Second

// Healthy waits until each of the members, or each that runs, has taken part in a
// linearizable read. Learners cannot: leave them out. A member that ends is not
// waited for.
func (c *Cluster) Healthy(ctx context.Context, members ...*Member) error {
	if len(members) == 0 {
		members = c.Running()
	}
	for _, m := range members {
		if err := m.until(ctx, "to serve", m.serves); err != nil {
			return err
		}
	}
	return nil
}

func (m *Member) serves(ctx context.Context) error {
	return m.cluster.call(ctx, "read from "+m.Name, []*Member{m}, func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.Get(ctx, "health")
		return err
	})
}

// until asks for something again and again, as long as the member runs.
func (m *Member) until(ctx context.Context, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-m.process.Ended():
			cancel(m.Alive())
		case <-ctx.Done():
		}
	}()
	err := cluster.Until(ctx, m.Name+" "+what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, tryTimeout)
		defer cancel()
		return check(ctx)
	})
	if ended := m.Alive(); ended != nil && err != nil {
		return fmt.Errorf("%w\n%s", err, m.tail())
	}
	return err
}

// tailBytes is how much of a log an error quotes.
const tailBytes = 4 << 10

func (m *Member) tail() string {
	log := m.Log()
	return log[max(0, len(log)-tailBytes):]
}

// Published waits until the members that vote list the member with its client
// URLs: a learner has started then, and has the log up to there.
func (c *Cluster) Published(ctx context.Context, m *Member) error {
	return m.until(ctx, "to be listed with its client URLs", func(ctx context.Context) error {
		list, err := c.List(ctx, c.without(m)...)
		if err != nil {
			return err
		}
		for _, listed := range list.Members {
			if listed.Name == m.Name && len(listed.ClientURLs) > 0 {
				return nil
			}
		}
		return errNotListed
	})
}
