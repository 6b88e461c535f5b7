package talos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// dialTimeout is Talos's.
const dialTimeout = 5 * time.Second

// etcdClient talks to the given endpoints as the node does, with its certificate.
func (b *boot) etcdClient(ctx context.Context, endpoints ...string) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: endpoints, DialTimeout: dialTimeout, TLS: b.node.pki.client, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("failed to create etcd client: %w", err)
	}
	return client, nil
}

// localClient talks to the node's own etcd.
func (b *boot) localClient(ctx context.Context) (*clientv3.Client, error) {
	return b.etcdClient(ctx, b.localEndpoint())
}

func (b *boot) localEndpoint() string { return b.node.etcdAddress(etcdClientPort) }

// clusterClient talks to the etcd of all control planes in some order.
func (b *boot) clusterClient(ctx context.Context) (*clientv3.Client, error) {
	endpoints := b.node.cluster.etcdEndpoints()
	rand.Shuffle(len(endpoints), func(i, j int) { endpoints[i], endpoints[j] = endpoints[j], endpoints[i] })
	return b.etcdClient(ctx, endpoints...)
}

// etcdEndpoints are all control planes', as Talos discovers them: it does not matter
// whether etcd runs there.
func (c *Cluster) etcdEndpoints() (out []string) {
	for _, n := range c.ControlPlanes() {
		out = append(out, n.etcdAddress(etcdClientPort))
	}
	return out
}
