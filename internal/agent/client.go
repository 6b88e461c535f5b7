package agent

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
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
