//go:build crash

package etcds

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	etcdclient "github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/reconcilers/etcd"
	"github.com/quorate/quorate/test/world"
)

// mortal is a controller that dies at one of its calls that change something outside:
// before it or after it. Nothing leaves it from then on, as from a killed process.
type mortal struct {
	at    int  // the call it dies at; below 0 for none
	after bool // whether the call is still made

	mu    sync.Mutex
	calls []string
	died  bool
	death context.CancelFunc
}

var errDead = errors.New("the controller is dead")

func (m *mortal) call(what string, do func() error) error {
	m.mu.Lock()
	if m.died {
		m.mu.Unlock()
		return errDead
	}
	now := len(m.calls) == m.at
	m.calls = append(m.calls, what)
	if now && !m.after {
		m.die()
		m.mu.Unlock()
		return errDead
	}
	m.mu.Unlock()
	err := do()
	if now {
		m.mu.Lock()
		m.die()
		m.mu.Unlock()
		return errDead
	}
	return err
}

func (m *mortal) die() {
	m.died = true
	m.death()
}

func (m *mortal) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.died
}

// mortalClient stands before the API server.
type mortalClient struct {
	client.Client
	m *mortal
}

func named(verb string, o client.Object) string { return fmt.Sprintf("%s %T %s", verb, o, o.GetName()) }

func (c mortalClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.m.call(named("patch", o), func() error { return c.Client.Patch(ctx, o, p, opts...) })
}

func (c mortalClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return c.m.call(named("delete", o), func() error { return c.Client.Delete(ctx, o, opts...) })
}

func (c mortalClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.m.call(fmt.Sprintf("apply %T", o), func() error { return c.Client.Apply(ctx, o, opts...) })
}

func (c mortalClient) Status() client.SubResourceWriter {
	return mortalStatus{c.Client.Status(), c.m}
}

type mortalStatus struct {
	client.SubResourceWriter
	m *mortal
}

func (s mortalStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.m.call(named("patch status of", o), func() error { return s.SubResourceWriter.Patch(ctx, o, p, opts...) })
}

// mortalCluster stands before etcd.
type mortalCluster struct {
	etcd.Cluster
	m *mortal
}

func (c mortalCluster) Remove(ctx context.Context, id uint64) error {
	return c.m.call("remove a member", func() error { return c.Cluster.Remove(ctx, id) })
}

func (c mortalCluster) MoveLeader(ctx context.Context, to uint64) error {
	return c.m.call("move the leader", func() error { return c.Cluster.MoveLeader(ctx, to) })
}

func (m *mortal) dial(ctx context.Context, o etcdclient.Options) (etcd.Cluster, error) {
	c, err := etcdclient.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return mortalCluster{c, m}, nil
}

// live runs the controllers of one namespace in this process, until stop or death.
func live(ctx context.Context, ns string, m *mortal) (stop func() error, err error) {
	access, err := shared.Access(world.Controller)
	if err != nil {
		return nil, err
	}
	scheme, err := etcd.Scheme()
	if err != nil {
		return nil, err
	}
	options := etcd.CacheOptions()
	options.DefaultNamespaces = map[string]cache.Config{ns: {}}
	mgr, err := ctrl.NewManager(access.Config, manager.Options{
		Scheme: scheme, Cache: options, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, err
	}
	r := &etcd.Reconciler{
		Client: mortalClient{mgr.GetClient(), m}, Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: logr.Discard(), Images: etcd.Images{Agent: "quorate:latest", Etcd: "etcd:v{version}"}, Dial: m.dial,
	}
	if err := r.Setup(mgr); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	m.death = cancel
	m.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}, nil
}
