package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/node"
	"github.com/quorate/quorate/test/talos"
)

// Options say what fleet to start.
type Options struct {
	// Config is an administrator's access to the control plane that holds Nodes, pods
	// and Quorate's objects.
	Config *rest.Config
	// Namespace is where the objects are, and Cluster the TalosCluster's name.
	Namespace, Cluster string
	// ControlPlanes and Workers are how many machines there are at first: cp-1, …,
	// worker-1, …
	ControlPlanes, Workers int
	// Domain, if set, is part of the Nodes' names, and not of the etcd members'.
	Domain string
	// Timing takes the place of the machines' quick defaults where it is not zero.
	Timing talos.Timing
	// Progress hears of a build of missing binaries. Nil means standard error.
	Progress io.Writer
}

// Fleet is a set of machines of one Talos cluster. Its methods may be called from
// several goroutines.
type Fleet struct {
	// Talos are the machines themselves.
	Talos *talos.Cluster
	// Client is an uncached one of the control plane, with Quorate's kinds.
	Client client.WithWatch

	options  Options
	mu       sync.Mutex
	kubelets map[string]*node.Kubelets // by the machine's name
}

// Start boots the machines, waits until every control plane is a voter of etcd, and
// makes their Nodes. Nothing is declared yet. After an error nothing is left running.
func Start(ctx context.Context, options Options) (*Fleet, error) {
	f := &Fleet{options: options, kubelets: map[string]*node.Kubelets{}}
	if err := f.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the fleet: %w", err), f.Stop())
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) (err error) {
	if f.Client, err = Client(f.options.Config); err != nil {
		return err
	}
	f.Talos, err = talos.Start(ctx, talos.Options{
		ControlPlanes: f.options.ControlPlanes, Workers: f.options.Workers, Domain: f.options.Domain,
		Timing: f.options.Timing, Progress: f.options.Progress,
	})
	if err != nil {
		return err
	}
	return f.join(ctx, f.Talos.Nodes()...)
}

// Client is an uncached client that knows Quorate's kinds.
func Client(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return c, nil
}

// Stop ends pods and machines, and leaves the objects as they are. A second call does
// nothing.
func (f *Fleet) Stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, k := range f.kubelets {
		errs = append(errs, k.Stop()) // the second one of the same nodes does nothing
	}
	if f.Talos != nil {
		errs = append(errs, f.Talos.Stop())
	}
	return errors.Join(errs...)
}
