package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/test/cluster"
)

// tryTimeout bounds one question to a member that may not listen yet: a client that
// was refused waits for longer and longer.
const tryTimeout = time.Second

// Healthy waits until each of the members, or each that runs, has taken part in a
// linearizable read. Learners cannot: they are waited for by CaughtUp. A member that
// ends is not waited for.
func (c *Cluster) Healthy(ctx context.Context, members ...*Member) error {
	if len(members) == 0 {
		members = c.without(nil)
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
		case <-m.process().Ended():
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

// CaughtUp waits until the member hears the leader and has applied what a voter has
// by now. That the list has its client URLs says less: a learner publishes them
// before it has anything of the log.
func (c *Cluster) CaughtUp(ctx context.Context, m *Member) error {
	want := uint64(0)
	return m.until(ctx, "to catch up", func(ctx context.Context) error {
		if want == 0 {
			voter, err := c.status(ctx, c.without(m)[0])
			if err != nil {
				return err
			}
			want = voter.RaftIndex
		}
		own, err := c.status(ctx, m)
		if err == nil && (own.Leader == 0 || own.RaftAppliedIndex < want) {
			err = fmt.Errorf("%w: leader %x, applied %d of %d", errBehind, own.Leader, own.RaftAppliedIndex, want)
		}
		return err
	})
}

var errBehind = errors.New("it is behind")

func (c *Cluster) status(ctx context.Context, m *Member) (status *clientv3.StatusResponse, err error) {
	err = c.call(ctx, "ask "+m.Name, []*Member{m}, func(ctx context.Context, client *clientv3.Client) error {
		status, err = client.Status(ctx, m.ClientURL)
		return err
	})
	return status, err
}
