package etcd

import (
	"context"

	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// Cluster is all that the reconciler asks of an etcd cluster. It has no other way to it.
type Cluster interface {
	View(ctx context.Context) (*etcdclient.View, error)
	Remove(ctx context.Context, id uint64) error
	MoveLeader(ctx context.Context, to uint64) error
	Lock(ctx context.Context) (unlock func() error, err error)
	Close() error
}

// Dial reaches a cluster.
type Dial func(ctx context.Context, o etcdclient.Options) (Cluster, error)

func dial(ctx context.Context, o etcdclient.Options) (Cluster, error) {
	c, err := etcdclient.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// connect reaches the cluster at these client URLs.
func (c *cycle) connect(ctx context.Context, endpoints []string) (Cluster, error) {
	config, err := c.tls(ctx)
	if err != nil {
		return nil, err
	}
	o := etcdclient.Options{Endpoints: endpoints, TLS: config}
	if o.ClusterID, err = parseID(c.etcd.Status.ClusterID); err != nil {
		return nil, err
	}
	if c.Dial == nil {
		return dial(ctx, o)
	}
	return c.Dial(ctx, o)
}

// at makes a call through members of these client URLs.
func (c *cycle) at(ctx context.Context, urls []string, do func(Cluster) error) error {
	cluster, err := c.connect(ctx, urls)
	if err != nil {
		return err
	}
	defer c.end(cluster)
	return do(cluster)
}

// end closes a connection; what was asked for is answered by then.
func (c *cycle) end(cluster Cluster) {
	if err := cluster.Close(); err != nil {
		c.log.V(1).Info("closing", "why", err.Error())
	}
}
