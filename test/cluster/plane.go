package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// processTimeout bounds the start and the end of one process. Three seconds
// are usual; a machine that compiles at the same time needs many more.
const processTimeout = 2 * time.Minute

// startPlane runs etcd and kube-apiserver and waits for all their start hooks.
func (c *Cluster) startPlane(ctx context.Context, options Options) error {
	etcd, err := c.etcd()
	if err != nil {
		return err
	}
	server, err := c.apiServer(options)
	if err != nil {
		return err
	}
	c.plane = &envtest.ControlPlane{Etcd: etcd, APIServer: server, KubectlPath: filepath.Join(c.assets, "kubectl")}
	if err := c.plane.Start(); err != nil {
		return err
	}
	if c.admin, err = c.AddUser("quorate-test-admin", "system:masters"); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.admin.Config); err != nil {
		return fmt.Errorf("make the administrator's client: %w", err)
	}
	c.proxy.follow(c.client)
	return c.waitReady(ctx)
}

func (c *Cluster) etcd() (*envtest.Etcd, error) {
	path, err := c.reaper.watch(filepath.Join(c.assets, "etcd"))
	if err != nil {
		return nil, err
	}
	log, err := c.logs.open("etcd")
	if err != nil {
		return nil, err
	}
	return &envtest.Etcd{
		Path: path, DataDir: filepath.Join(c.Dir, "etcd"), Out: log, Err: log,
		StartTimeout: processTimeout, StopTimeout: processTimeout,
	}, nil
}

func (c *Cluster) apiServer(options Options) (*envtest.APIServer, error) {
	path, err := c.reaper.watch(filepath.Join(c.assets, "kube-apiserver"))
	if err != nil {
		return nil, err
	}
	log, err := c.logs.open("kube-apiserver")
	if err != nil {
		return nil, err
	}
	server := &envtest.APIServer{
		Path: path, CertDir: filepath.Join(c.Dir, "certs"), Out: log, Err: log,
		StartTimeout: processTimeout, StopTimeout: processTimeout,
	}
	return server, c.configure(server, options)
}

func (c *Cluster) configure(server *envtest.APIServer, options Options) error {
	flags := server.Configure()
	egress, err := c.write("egress.yaml", c.proxy.egressConfiguration())
	if err != nil {
		return err
	}
	flags.Set("egress-selector-config-file", egress)
	// Without it a stop waits a minute for watches that their clients keep open.
	flags.Set("shutdown-watch-termination-grace-period", "5s")
	if options.ControllerManager {
		// With default ServiceAccounts there, pods get theirs as everywhere.
		flags.Disable("disable-admission-plugins")
	}
	if options.AuditPolicy != "" {
		policy, err := c.write("audit-policy.yaml", options.AuditPolicy)
		if err != nil {
			return err
		}
		flags.Set("audit-policy-file", policy).Set("audit-log-path", c.AuditLog())
	}
	for name, values := range options.APIServerFlags {
		flags.Set(name, values...)
	}
	return nil
}

func (c *Cluster) write(name, content string) (string, error) {
	path := filepath.Join(c.Dir, "run", name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return path, nil
}

// AuditLog is the file that the API server writes audit events to, one line of
// JSON each, if Options.AuditPolicy was set.
func (c *Cluster) AuditLog() string { return filepath.Join(c.Dir, "logs", "audit.log") }

// waitReady asks for each start hook: healthz, which envtest waits for, is
// content before the default roles and namespaces are there.
func (c *Cluster) waitReady(ctx context.Context) error {
	return Until(ctx, "the API server's readiness", func(ctx context.Context) error {
		body, err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Param("verbose", "").DoRaw(ctx)
		if err == nil {
			return nil
		}
		var failed []string
		for line := range strings.Lines(string(body)) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "[-]"); ok {
				failed = append(failed, name)
			}
		}
		return fmt.Errorf("%s: %w", strings.Join(failed, ", "), err)
	})
}

// RestartAPIServer stops kube-apiserver and starts it again at the same
// address, with the same certificates and data.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	if err := c.plane.APIServer.Stop(); err != nil {
		return fmt.Errorf("restart the API server: %w", err)
	}
	if err := c.plane.APIServer.Start(); err != nil {
		return fmt.Errorf("restart the API server: %w%s", err, c.logs.tail())
	}
	return c.waitReady(ctx)
}

// KillAPIServer ends kube-apiserver at once (SIGKILL), whatever it was about to
// answer, and starts it again as RestartAPIServer does.
func (c *Cluster) KillAPIServer(ctx context.Context) error {
	pid, err := c.reaper.pid("kube-apiserver")
	if err != nil {
		return fmt.Errorf("kill the API server: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the API server: %w", err)
	}
	// Until the process is collected, a stop finds it half there.
	err = Until(ctx, "the end of the API server", func(context.Context) error { return c.plane.APIServer.Stop() })
	if err != nil {
		return fmt.Errorf("kill the API server: %w", err)
	}
	if err := c.plane.APIServer.Start(); err != nil {
		return fmt.Errorf("start the API server that was killed: %w%s", err, c.logs.tail())
	}
	return c.waitReady(ctx)
}
