package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Cluster is a control plane that runs. Its methods may be called from several
// goroutines, except Stop, RestartAPIServer and KillAPIServer.
type Cluster struct {
	// Dir holds certificates, kubeconfig files, data and logs.
	Dir string

	keep    bool // Dir was given by the caller
	stopped bool
	assets  string
	plane   *envtest.ControlPlane
	proxy   *serviceProxy
	manager *controllerManager
	reaper  *reaper
	logs    *logs
	admin   *Access
	client  kubernetes.Interface

	users sync.Mutex // envtest's authority counts its certificates without one
}

// Start builds what is missing, starts the control plane and waits until it is
// ready. After an error nothing is left running; the error ends with the last
// lines of the logs.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options = options.withDefaults()
	assets, err := FindAssets(ctx, options.Version, options.Progress)
	if err != nil {
		return nil, err
	}
	c := &Cluster{assets: assets, Dir: options.Dir, keep: options.Dir != ""}
	if err := c.start(ctx, options); err != nil {
		err = fmt.Errorf("start the control plane: %w%s", err, c.logs.tail())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, options Options) error {
	steps := []func(context.Context, Options) error{
		c.makeDir, c.startReaper, c.startProxy, c.startPlane, c.startManager,
	}
	for _, step := range steps {
		if err := step(ctx, options); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) makeDir(context.Context, Options) (err error) {
	if !c.keep {
		if c.Dir, err = os.MkdirTemp("", "quorate-cluster-"); err != nil {
			return fmt.Errorf("make its folder: %w", err)
		}
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	for _, sub := range []string{"certs", "etcd", "kubeconfig", "logs", "run"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, sub), 0o755); err != nil {
			return fmt.Errorf("make its folder: %w", err)
		}
	}
	c.logs = &logs{dir: filepath.Join(c.Dir, "logs")}
	return nil
}

func (c *Cluster) startReaper(context.Context, Options) (err error) {
	remove := ""
	if !c.keep {
		remove = c.Dir
	}
	c.reaper, err = startReaper(filepath.Join(c.Dir, "run"), remove)
	return err
}

func (c *Cluster) startProxy(context.Context, Options) (err error) {
	c.proxy, err = startServiceProxy(filepath.Join(c.Dir, "run", "services.sock"))
	return err
}

func (c *Cluster) startManager(ctx context.Context, options Options) (err error) {
	if !options.ControllerManager {
		return nil
	}
	c.manager, err = c.runControllerManager(ctx)
	return err
}

// Stop ends the processes, each API server before its etcd: an API server
// without etcd ignores the signal for a minute. It removes a temporary Dir. A
// second call does nothing.
func (c *Cluster) Stop() error {
	if c.stopped {
		return nil
	}
	c.stopped = true
	var errs []error
	if c.manager != nil {
		errs = append(errs, c.manager.stop())
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Stop())
	}
	if c.proxy != nil {
		errs = append(errs, c.proxy.stop())
	}
	errs = append(errs, c.reaper.dismiss(), c.logs.close())
	if !c.keep && c.Dir != "" {
		errs = append(errs, os.RemoveAll(c.Dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}
	return nil
}

// Admin is the access of a member of system:masters.
func (c *Cluster) Admin() *Access { return c.admin }

// AdminConfig is a copy of the administrator's client configuration.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin.Config) }

// Client is the administrator's typed client.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Assets is the folder of the binaries that run: kubectl is there too.
func (c *Cluster) Assets() string { return c.assets }
