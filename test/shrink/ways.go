package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/quorate/quorate/test/cluster"
)

// gone waits until neither pods nor volumes of the surplus are left: there both ways
// end.
func (s *subject) gone(ctx context.Context) error {
	return cluster.Until(ctx, "the surplus to be gone", func(ctx context.Context) error {
		left, err := s.kubectl(ctx, "get", "pods,pvc", "-o", "name", "--ignore-not-found")
		if err != nil {
			return err
		}
		for _, surplus := range []string{"main-3", "main-4"} {
			if strings.Contains(left, surplus) {
				return fmt.Errorf("%w: %s", errNotYet, strings.Join(strings.Fields(left), " "))
			}
		}
		return nil
	})
}

func (s *subject) byProduct(ctx context.Context) error {
	if _, err := s.kubectl(ctx, "scale", "etcd", "main", "--replicas=3"); err != nil {
		return err
	}
	return s.gone(ctx)
}

// byScript does the steps while the controllers are away, and tells them afterwards.
func (s *subject) byScript(ctx context.Context) (err error) {
	for _, member := range []string{"main-4", "main-3"} {
		if err := remove(ctx, member); err != nil {
			return err
		}
		if _, err := s.kubectl(ctx, "delete", "pvc", "data-"+member, "--wait=false"); err != nil {
			return err
		}
	}
	if _, err := s.kubectl(ctx, "scale", "statefulset", "main", "--replicas=3"); err != nil {
		return err
	}
	return s.gone(ctx)
}

// unhealthyPause is how long a script waits before it tries again.
const unhealthyPause = time.Second

// remove is `etcdctl member list` and `etcdctl member remove`.
func remove(ctx context.Context, name string) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://main.plant.svc:2379"}, Logger: zap.NewNop()})
	if err != nil {
		return fmt.Errorf("connect to etcd: %w", err)
	}
	defer func() { _ = client.Close() }() // nothing is written by closing
	list, err := client.MemberList(ctx)
	if err != nil {
		return fmt.Errorf("list the members: %w", err)
	}
	for _, m := range list.Members {
		if m.Name != name {
			continue
		}
		for {
			_, err := client.MemberRemove(ctx, m.ID)
			if !errors.Is(err, rpctypes.ErrUnhealthy) {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(unhealthyPause):
			}
		}
	}
	return fmt.Errorf("%s is no member: %w", name, errNotYet)
}
