package chaos

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

// What TestChaos works on. The gate has a replica of its own: the one with the
// controllers is killed.
var (
	shared      *world.World
	admin       client.Client
	gate        *world.Manager
	controllers *world.Manager
)

func TestMain(m *testing.M) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	os.Exit(m.Run())
}

// begin starts the world; end ends it.
func begin(ctx context.Context) (end func() error, err error) {
	shared, err = world.Start(ctx, world.Options{
		Cluster: cluster.Options{ControllerManager: true}, Nodes: true, Controllers: true,
		ManagerFlags: []string{"--learner-grace=5s"},
	})
	if err != nil {
		return nil, err
	}
	end = func() error { return errors.Join(endControllers(), shared.Stop()) }
	if err := prepare(ctx); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}

func prepare(ctx context.Context) error {
	net.DefaultResolver = wrap.Resolver(shared.Nodes.DNS()) // members have no other names
	scheme, err := etcd.Scheme()
	if err != nil {
		return err
	}
	if admin, err = client.New(shared.AdminConfig(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	if err := shared.Apply(ctx, storageClass); err != nil {
		return err
	}
	controllers = shared.Managers()[0]
	if gate, err = shared.StartManager(ctx, "gate", "--gate-only=true"); err != nil {
		return err
	}
	shared.SetManagers(gate)
	return nil
}

// endControllers ends the replica that is none of the webhook's backends.
func endControllers() error {
	if controllers == nil {
		return nil
	}
	return controllers.Kill()
}

// storageClass is the default one: its volumes are made by kube-controller-manager.
const storageClass = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/host-path
`
