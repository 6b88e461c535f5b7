package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/reconcilers/backup"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/etcd"
)

// election is what replicas compete for: one of them runs the controllers.
const election = "quorate-controllers"

// pause is how long a replica waits before it competes again after it lost the lease.
const pause = 2 * time.Second

// controllers run in one replica at a time, unlike the gate.
type controllers struct {
	options Options
	metrics *etcd.Metrics
	// clusterMetrics are of TalosClusters.
	clusterMetrics *cluster.Metrics
	// backupMetrics are of TalosEtcdBackups; backups follows them in this term.
	backupMetrics *backup.Metrics
	backups       *backup.Reconciler
	engine        *cel.Engine
	// restores outlive each term; stay ends a process that lost the lease to one.
	restores *restores
	stay     *stay
	// on is false where nothing but the gate is wanted.
	on bool
}

func newControllers(o Options, engine *cel.Engine, registry prometheus.Registerer, jobs *restores) (*controllers, error) {
	metrics, err := etcd.NewMetrics(registry)
	if err != nil {
		return nil, err
	}
	clusterMetrics, err := cluster.NewMetrics(registry)
	if err != nil {
		return nil, err
	}
	backupMetrics, err := backup.NewMetrics(registry)
	if err != nil {
		return nil, err
	}
	return &controllers{options: o, metrics: metrics, clusterMetrics: clusterMetrics, backupMetrics: backupMetrics, engine: engine, restores: jobs, stay: newStay(o, jobs), on: !o.GateOnly}, nil
}

// run competes for the lease and reconciles while it holds it. Who loses it, since the
// API server was away say, competes again, and the gate serves on meanwhile; stay says for
// how long.
func (c *controllers) run(ctx context.Context) error {
	if !c.on {
		<-ctx.Done()
		return nil
	}
	log := c.options.Log.WithName("controllers")
	for {
		err := c.once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errControllers) {
			return err
		}
		log.Info("the controllers have stopped, and start again", "why", fmt.Sprint(err))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// errControllers marks what no second try mends.
var errControllers = errors.New("build the controllers")

func (c *controllers) once(ctx context.Context) error {
	scheme, err := etcd.Scheme()
	if err != nil {
		return fmt.Errorf("%w: %w", errControllers, err)
	}
	config := rest.CopyConfig(c.options.Config)
	config.Timeout = 0 // it would cut watches; each reconcile has a deadline of its own
	config.QPS, config.Burst = 100, 200
	m, err := ctrl.NewManager(config, manager.Options{
		Scheme: scheme, Logger: c.options.Log.WithName("controllers"), Cache: etcd.CacheOptions(),
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: election, LeaderElectionNamespace: c.options.Namespace, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	t := c.newTerm(m)
	for _, setup := range []func(term) error{c.etcds, c.talosEtcdBackups, c.talosClusters, c.talosOperations} {
		if err := setup(t); err != nil {
			return fmt.Errorf("%w: %w", errControllers, err)
		}
	}
	if err := m.Add(c.stay.term(ctx)); err != nil {
		return fmt.Errorf("%w: %w", errControllers, err)
	}
	return m.Start(ctx)
}

// term is what the controllers share from winning the lease until it is lost. What was
// read of secrets bundles, and the locks, are for all that follows Talos clusters.
type term struct {
	ctrl.Manager
	gate  *epoch.Gate
	plane *controlplane.Access
	locks *lease.Locks
}

func (c *controllers) newTerm(m ctrl.Manager) term {
	live := m.GetAPIReader()
	return term{
		Manager: m, gate: c.newEpochGate(m), plane: controlplane.New(live, talos.Timeouts{}),
		locks: &lease.Locks{Live: live, Client: m.GetClient(), Clock: clock.RealClock{}, Identity: c.options.Identity()},
	}
}

func (c *controllers) etcds(m term) error {
	r := &etcd.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("etcd"), Metrics: c.metrics,
		Images: etcd.Images{Agent: c.options.AgentImage, Etcd: c.options.EtcdImage}, LearnerGrace: c.options.LearnerGrace, Gate: m.gate,
	}
	return r.Setup(m.Manager)
}
