package restored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/test/product"
	sim "github.com/quorate/quorate/test/talos"
)

// Options say what world to start. The zero value is three control planes and a worker,
// and the manager on the worker.
type Options struct {
	// ControlPlanes and Workers are three and one if both are 0.
	ControlPlanes, Workers int
	// Manager is the machine of the manager's pod: worker-1 if it is empty.
	Manager string
	// Outside has the manager run on none of them, as a process beside the cluster.
	Outside bool
	// ManagerFlags are further flags of the manager; the last of a name wins.
	ManagerFlags []string
	// Binary is the manager's program. Empty builds it from this tree.
	Binary string
	// Volumes, WithoutKubePrism and Timing are those of package talos.
	Volumes          []string
	WithoutKubePrism bool
	Timing           sim.Timing
	// Progress hears what is being done and how long it took, a line each. Nil means
	// standard error.
	Progress io.Writer
}

func (o Options) complete() Options {
	if o.ControlPlanes == 0 && o.Workers == 0 {
		o.ControlPlanes, o.Workers = 3, 1
	}
	if o.Manager == "" {
		o.Manager = "worker-1"
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	return o
}

// World is a Talos cluster that holds its own Quorate. Its methods may be called from
// several goroutines.
type World struct {
	// Talos are the machines.
	Talos *sim.Cluster
	// Client is an administrator's, uncached, to whichever API server accepts.
	Client client.WithWatch
	// Bundle is the machines' secrets bundle.
	Bundle *talos.Bundle

	options  Options
	binary   string
	webhook  string // host:port, the same wherever the manager is
	replicas *replicas
	outside  *outside // nil unless Options.Outside
}

// Names in the world.
const (
	// System is the namespace of the manager.
	System = "quorate-system"
	// Namespace holds what declares the cluster, called Cluster.
	Namespace, Cluster = "factory", "factory"
	// Users is the namespace of objects that are none of Quorate's.
	Users = "users"
)

// Start starts the machines, installs Quorate in their cluster, declares the cluster
// there, and waits until the manager says that it is ready. After an error nothing is left
// running.
func Start(ctx context.Context, options Options) (*World, error) {
	w := &World{options: options.complete()}
	w.replicas = newReplicas(w)
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the world: %w%s", err, w.Logs()), w.Stop())
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"build the manager", w.build},
		{"start the machines", w.boot},
		{"install Quorate", w.install},
		{"start the manager", w.startManager},
		{"declare the cluster", w.declare},
		{"wait for the cluster to be ready", w.Ready},
	} {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		_, _ = fmt.Fprintf(w.options.Progress, "%s: %s\n", step.what, time.Since(began).Round(10*time.Millisecond))
	}
	return nil
}

func (w *World) build(ctx context.Context) (err error) {
	if w.binary = w.options.Binary; w.binary != "" {
		return nil
	}
	root, err := product.Root(ctx)
	if err != nil {
		return err
	}
	w.binary, err = product.Build(ctx, root, "quorate")
	return err
}

func (w *World) boot(ctx context.Context) (err error) {
	w.Talos, err = sim.Start(ctx, sim.Options{
		ControlPlanes: w.options.ControlPlanes, Workers: w.options.Workers, Kubernetes: true, Programs: w.programs,
		Volumes: w.options.Volumes, WithoutKubePrism: w.options.WithoutKubePrism, Timing: w.options.Timing, Progress: w.options.Progress,
	})
	if err != nil {
		return err
	}
	if w.Bundle, err = talos.LoadBundle(w.Talos.Bundle()); err != nil {
		return err
	}
	w.Client, err = w.dial()
	return err
}

// Stop ends everything. A second call does nothing.
func (w *World) Stop() error {
	w.replicas.stop()
	if w.Talos == nil {
		return nil
	}
	var err error
	if w.outside != nil {
		err = w.outside.stop()
	}
	err = errors.Join(err, w.Talos.Stop())
	w.Talos, w.outside = nil, nil
	return err
}

// Logs are the last lines of the manager and of each machine's etcd and API server.
func (w *World) Logs() string {
	if w.Talos == nil {
		return ""
	}
	return "\n--- manager\n" + tail(w.ManagerLog()) + w.Talos.Logs()
}

// tailBytes is how much of a log is quoted.
const tailBytes = 6 << 10

func tail(text string) string { return text[max(0, len(text)-tailBytes):] }
