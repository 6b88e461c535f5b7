package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/guard/rejoin"
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

// through makes a call that changes the cluster: first at the endpoint that gave the
// list, which is reachable, then at the voters' own. It stops at the first answer.
func (c *Config) through(ctx context.Context, live rejoin.Live, timeout time.Duration, call func(context.Context, clientv3.Cluster) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var errs []error
	for _, endpoint := range append([]string{live.Endpoint}, live.Voters()...) {
		err := c.callAt(ctx, endpoint, call)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", endpoint, err))
		if status.Code(err) == codes.Unknown { // etcd's own word, or none of the connection
			break
		}
	}
	return errors.Join(errs...)
}

func (c *Config) callAt(ctx context.Context, endpoint string, call func(context.Context, clientv3.Cluster) error) error {
	client, err := c.connect(ctx, endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	return call(ctx, direct(client))
}

// why is what went wrong in a call, without its code.
func why(err error) string { return status.Convert(err).Message() }
