package etcd

import (
	"context"
	"errors"

	"github.com/quorate/quorate/api/v1alpha1"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// turn takes the lock of a shared cluster, held only for the one change; Etcds that
// share it, perhaps in two Kubernetes clusters, so take turns. release is nil if
// another has the turn.
func (c *cycle) turn(ctx context.Context, shared bool) (release func(), err error) {
	if !shared {
		return func() {}, nil
	}
	cluster, err := c.connect(ctx, c.voters())
	if err != nil {
		return nil, err
	}
	unlock, err := cluster.Lock(ctx)
	if err != nil {
		c.end(cluster)
		text := "the lock of the shared cluster was not to be had: " + oneLine(err)
		if errors.Is(err, etcdclient.ErrLocked) {
			text = "another Etcd that shares this cluster changes its membership just now; it is this one's turn after that"
		}
		c.fail(v1alpha1.ErrLockHeld, text)
		c.soon(busy)
		return nil, nil
	}
	return func() {
		if err := unlock(); err != nil {
			c.log.Info("the lock of the shared cluster runs out by itself", "why", err.Error())
		}
		c.end(cluster)
	}, nil
}

// voters are the client URLs of all healthy voters.
func (c *cycle) voters() []string { return c.staying(nil) }
