package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// What a caller branches on.
var (
	// ErrOtherCluster: another cluster answers than the one that was asked for.
	ErrOtherCluster = errors.New("another cluster answers")
	// ErrUnhealthy: etcd itself refuses a membership change for the cluster's health.
	ErrUnhealthy = errors.New("etcd refuses a change while members are ill")
)

// Options say how a cluster is reached.
type Options struct {
	// Endpoints are client URLs: of the client Service, or of members.
	Endpoints []string
	// TLS is nil for plain HTTP.
	TLS *tls.Config
	// ClusterID is the recorded one; 0 accepts any.
	ClusterID uint64
	// CallTimeout bounds each call; 0 is DefaultCallTimeout.
	CallTimeout time.Duration
}

// DefaultCallTimeout is longer than etcd's own limit (7 s), so that etcd says what
// was wrong.
const DefaultCallTimeout = 10 * time.Second

// Client is a connection to one cluster.
type Client struct {
	options Options
	etcd    *clientv3.Client
}

// New connects lazily: an error is one of the options.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.CallTimeout == 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	client, err := clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: o.Endpoints, TLS: o.TLS, MaxUnaryRetries: 2, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd at %v: %w", o.Endpoints, err)
	}
	return &Client{o, client}, nil
}

// Close ends the connections.
func (c *Client) Close() error {
	if err := c.etcd.Close(); err != nil {
		return fmt.Errorf("close the connection to etcd: %w", err)
	}
	return nil
}

// Via is the same cluster through other endpoints: those of the members that stay,
// so that no call goes through one that leaves.
func (c *Client) Via(ctx context.Context, endpoints []string) (*Client, error) {
	o := c.options
	o.Endpoints = slices.Clone(endpoints)
	return New(ctx, o)
}

// Remove removes a member. One that is not there is removed. After a deadline it is
// open whether it happened: list again.
func (c *Client) Remove(ctx context.Context, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	_, err := c.etcd.MemberRemove(ctx, id)
	switch {
	case err == nil, errors.Is(err, rpctypes.ErrMemberNotFound):
		return nil
	case errors.Is(err, rpctypes.ErrUnhealthy), errors.Is(err, rpctypes.ErrMemberNotEnoughStarted):
		return fmt.Errorf("remove a member: %w: %w", ErrUnhealthy, err)
	}
	return fmt.Errorf("remove a member: %w", err)
}

// MoveLeader moves leadership to a member; only the leader itself can do it, so the
// client's endpoints are its.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	if _, err := c.etcd.MoveLeader(ctx, to); err != nil {
		return fmt.Errorf("move leadership: %w", err)
	}
	return nil
}
