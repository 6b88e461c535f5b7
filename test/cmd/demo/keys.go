package main

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// keys are what was written through the client Service and acknowledged.
type keys struct{ acknowledged int }

const (
	service = "http://main.plant.svc:2379"
	prefix  = "/demo/"
)

var errLost = errors.New("acknowledged keys are missing")

func connected(do func(*clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{service}, Logger: zap.NewNop()})
	if err != nil {
		return fmt.Errorf("connect to etcd: %w", err)
	}
	return errors.Join(do(c), c.Close())
}

func (k *keys) write(ctx context.Context, n int) error {
	return connected(func(c *clientv3.Client) error {
		for range n {
			if _, err := c.Put(ctx, fmt.Sprintf("%s%05d", prefix, k.acknowledged), "there"); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			k.acknowledged++
		}
		return nil
	})
}

func (k *keys) check(ctx context.Context) error {
	return connected(func(c *clientv3.Client) error {
		r, err := c.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if r.Count != int64(k.acknowledged) {
			return fmt.Errorf("%w: %d of %d are there", errLost, r.Count, k.acknowledged)
		}
		return nil
	})
}
