// Package manager runs one replica: the webhook, its certificates, the check for
// drift, the controllers, and the endpoints for probes and metrics. Every replica
// serves the webhook; the one that holds the lease runs the controllers.
package manager

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/webhooks"
)

// Run serves until the context ends, then drains, and returns once the last
// request is answered. It fails when a part cannot be built or stops serving.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	r, err := newReplica(o)
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// replica is what runs in one process.
type replica struct {
	keeper *certs.Keeper
	server *webhooks.Server
	drift  *driftWatch
	work   *controllers
	jobs   *restores
	health *endpoint
	scrape *endpoint
}

// outside is what a replica uses of the world.
type outside struct {
	client     kubernetes.Interface
	extensions apiextensionsclient.Interface
	registry   *prometheus.Registry
	clock      clock.Clock
}

func newReplica(o Options) (*replica, error) {
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	extensions, err := apiextensionsclient.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("make a client for definitions: %w", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return assemble(o, outside{client, extensions, registry, clock.RealClock{}})
}

// assemble puts the parts together; nothing runs yet.
func assemble(o Options, out outside) (*replica, error) {
	metrics, err := webhooks.NewMetrics(out.registry)
	if err != nil {
		return nil, err
	}
	keeper, err := newKeeper(o, out, metrics)
	if err != nil {
		return nil, err
	}
	engine, crds, err := newEngine()
	if err != nil {
		return nil, err
	}
	g, err := newGate(o, engine, crds, metrics)
	if err != nil {
		return nil, err
	}
	server, err := newServer(o, out, keeper, g)
	if err != nil {
		return nil, err
	}
	drift, err := newDriftWatch(o, out.client, out.extensions, metrics)
	if err != nil {
		return nil, err
	}
	jobs, err := newRestores(o)
	if err != nil {
		return nil, err
	}
	work, err := newControllers(o, engine, out.registry, jobs)
	if err != nil {
		return nil, err
	}
	return &replica{
		keeper: keeper, server: server, drift: drift, work: work, jobs: jobs,
		health: healthEndpoint(o.HealthAddress, server.Ready),
		scrape: metricsEndpoint(o.MetricsAddress, out.registry),
	}, nil
}

func newKeeper(o Options, out outside, metrics *webhooks.Metrics) (*certs.Keeper, error) {
	return certs.New(certs.Options{
		Secrets:           out.client.CoreV1().Secrets(o.Namespace),
		Configurations:    out.client.AdmissionregistrationV1().ValidatingWebhookConfigurations(),
		SecretName:        o.Secret,
		ConfigurationName: o.Configuration,
		Names:             o.names(),
		Policy:            o.Certificates,
		Clock:             out.clock,
		Log:               o.Log.WithName("certs"),
		OnExpiry:          metrics.SetCertificateExpiry,
	})
}

func newServer(o Options, out outside, keeper *certs.Keeper, g *webhooks.Gate) (*webhooks.Server, error) {
	return webhooks.NewServer(webhooks.ServerOptions{
		Address:    o.WebhookAddress,
		Gate:       g,
		TLS:        &tls.Config{GetCertificate: keeper.GetCertificate, MinVersion: tls.VersionTLS12},
		ServerName: o.names().DNS[0],
		Roots:      keeper.Roots,
		DrainDelay: o.DrainDelay,
		Clock:      out.clock,
		Log:        o.Log.WithName("webhook"),
	})
}

// run keeps everything else going until the webhook has drained: probes must say
// that it drains, and a leaf may fall due meanwhile.
func (r *replica) run(ctx context.Context) error {
	ctx, r.work.stay.leave = context.WithCancel(ctx)
	defer r.work.stay.leave()
	others, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, others := errgroup.WithContext(others)
	// First: a restore goes on from its folder before anybody asks the API server, which
	// may be away for want of it.
	group.Go(func() error {
		working, end := whileBoth(ctx, others)
		defer end()
		return r.jobs.run(working)
	})
	group.Go(func() error { return r.keeper.Run(others) })
	group.Go(func() error { return r.drift.run(others) })
	group.Go(func() error {
		working, end := whileBoth(ctx, others)
		defer end()
		return r.work.run(working)
	})
	group.Go(func() error { return r.health.serve(others) })
	group.Go(func() error { return r.scrape.serve(others) })
	group.Go(func() error {
		defer stop()
		serving, end := whileBoth(ctx, others)
		defer end()
		return r.server.Start(serving)
	})
	return group.Wait()
}

// whileBoth is a context that ends with either.
func whileBoth(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	unhook := context.AfterFunc(b, cancel)
	return ctx, func() { unhook(); cancel() }
}
