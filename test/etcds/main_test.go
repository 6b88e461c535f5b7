package etcds

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/reconcilers/etcd"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node/wrap"
	"github.com/quorate/quorate/test/world"
)

// shared is the world of all tests, and admin an uncached client of it.
var (
	shared *world.World
	admin  client.Client
)

func TestMain(m *testing.M) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	shared, err = world.Start(ctx, world.Options{
		Cluster: cluster.Options{ControllerManager: true}, Nodes: true, EtcdMinors: []string{"3.5", "3.6", "3.7"}, Controllers: true,
		ManagerFlags: []string{"--learner-grace=5s"},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	net.DefaultResolver = wrap.Resolver(shared.Nodes.DNS()) // members have no other names
	scheme, err := etcd.Scheme()
	if err != nil {
		return 1, err
	}
	if admin, err = client.New(shared.AdminConfig(), client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	if err := shared.Apply(ctx, storageClass); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, endControllers()) }()
	if err := divide(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// storageClass is the default one: its volumes are made by kube-controller-manager.
const storageClass = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/host-path
`
