package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// controllerManager is a kube-controller-manager that runs.
type controllerManager struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended; err is set by then
	err   error
}

// errEnded says that a process ended that should still run.
var errEnded = errors.New("kube-controller-manager has ended")

// runControllerManager starts it and waits for the first thing that it makes:
// the default ServiceAccount.
func (c *Cluster) runControllerManager(ctx context.Context) (*controllerManager, error) {
	path, err := c.reaper.watch(filepath.Join(c.assets, "kube-controller-manager"))
	if err != nil {
		return nil, err
	}
	log, err := c.logs.open("kube-controller-manager")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, c.managerFlags()...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start kube-controller-manager: %w", err)
	}
	m := &controllerManager{cmd: cmd, ended: make(chan struct{})}
	go func() {
		m.err = cmd.Wait()
		close(m.ended)
	}()
	return m, c.waitForManager(ctx, m)
}

func (c *Cluster) managerFlags() []string {
	certs := filepath.Join(c.Dir, "certs")
	return []string{
		"--kubeconfig=" + c.admin.Kubeconfig,
		"--leader-elect=false",
		"--service-account-private-key-file=" + filepath.Join(certs, "sa-signer.key"),
		"--enable-hostpath-provisioner",
		"--use-service-account-credentials=false",
		"--bind-address=127.0.0.1",
		"--secure-port=0", // serves nothing, so that several can run
	}
}

func (c *Cluster) waitForManager(ctx context.Context, m *controllerManager) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-m.ended:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	return Until(ctx, "kube-controller-manager", func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// stop ends the process; one that does not end by itself is killed, which is an error.
func (m *controllerManager) stop() error {
	select {
	case <-m.ended:
		return fmt.Errorf("%w before it was stopped: %v", errEnded, m.err)
	default:
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop kube-controller-manager: %w", err)
	}
	select {
	case <-m.ended:
		return nil
	case <-time.After(processTimeout):
		return errors.Join(errors.New("stop kube-controller-manager: it did not end and was killed"), m.cmd.Process.Kill())
	}
}
