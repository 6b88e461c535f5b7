package agent

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/status"
)

// connect makes a client that gives up early: whoever calls it asks again, and
// elsewhere.
func (c *Config) connect(ctx context.Context, endpoints ...string) (*clientv3.Client, error) {
	t, err := c.TLS.config()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: endpoints, TLS: t, MaxUnaryRetries: 1, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", endpoints, err)
	}
	return client, nil
}

// questions are asked without the client's own call options, which wait for a
// connection until the deadline and hide why there is none.
type questions struct {
	clientv3.Cluster
	clientv3.KV
}

func direct(client *clientv3.Client) questions {
	connection := client.ActiveConnection()
	return questions{
		clientv3.NewClusterFromClusterClient(etcdserverpb.NewClusterClient(connection), nil),
		clientv3.NewKVFromKVClient(etcdserverpb.NewKVClient(connection), nil),
	}
}

// why is what went wrong in a call, without its code.
func why(err error) string { return status.Convert(err).Message() }
