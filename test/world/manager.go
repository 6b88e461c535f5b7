package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/process"
)

// Manager is one replica: a process of its own.
type Manager struct {
	// Name is the replica's name, as a pod's would be: manager-0.
	Name string
	// Webhook, Probes and Metrics are the addresses that it listens at.
	Webhook, Probes, Metrics string

	process *process.Process
	log     string
}

// freeAddress is one that nobody listens at just now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return address, nil
}

// StartManager starts one replica more, with flags besides those of the world's
// options, and waits until it is ready. It is not among the webhook's backends
// before SetManagers says so.
func (w *World) StartManager(ctx context.Context, name string, flags ...string) (*Manager, error) {
	m := &Manager{Name: name, log: filepath.Join(w.Dir, "logs", name+".log")}
	for _, address := range []*string{&m.Webhook, &m.Probes, &m.Metrics} {
		free, err := freeAddress()
		if err != nil {
			return nil, err
		}
		*address = free
	}
	p, err := process.Start(m.log, w.Binary, append(w.flags(m), flags...)...)
	if err != nil {
		return nil, err
	}
	m.process = p
	if err := w.ready(ctx, m); err != nil {
		if killed := m.Kill(); !errors.Is(killed, process.ErrEnded) {
			err = errors.Join(err, killed)
		}
		return nil, err
	}
	return m, nil
}

// flags are those of a pod, but for addresses and for times that a person or a
// test would wait for.
func (w *World) flags(m *Manager) []string {
	return append([]string{
		"manager",
		"--kubeconfig=" + w.actors[Controller].Kubeconfig,
		"--webhook-bind-address=" + m.Webhook,
		"--health-bind-address=" + m.Probes,
		"--metrics-bind-address=" + m.Metrics,
		"--drain-delay=1s",
		"--certificate-poll=1s",
		"--gate-only=" + strconv.FormatBool(!w.options.Controllers),
	}, w.options.ManagerFlags...)
}

func (w *World) ready(ctx context.Context, m *Manager) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-m.process.Ended():
			cancel(m.process.Alive())
		case <-ctx.Done():
		}
	}()
	if err := cluster.Until(ctx, m.Name, m.Ready); err != nil {
		return fmt.Errorf("%w%s", err, m.tail())
	}
	return nil
}

// Ready answers an error unless the replica says that it is ready.
func (m *Manager) Ready(ctx context.Context) error { return get(ctx, "http://"+m.Probes+"/readyz") }

// errStatus is an answer that is not 200.
var errStatus = errors.New("unexpected status")

func get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("get %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("get %s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %w: %s", url, errStatus, response.Status)
	}
	return nil
}

// Stop asks the replica to drain and end, as a kubelet does.
func (m *Manager) Stop() error { return m.process.Stop(syscall.SIGTERM) }

// Kill ends the replica at once.
func (m *Manager) Kill() error { return m.process.Stop(syscall.SIGKILL) }

// Log is all that the replica has logged so far.
func (m *Manager) Log() (string, error) {
	content, err := os.ReadFile(m.log)
	if err != nil {
		return "", fmt.Errorf("read the log of %s: %w", m.Name, err)
	}
	return string(content), nil
}

// tailLines is how much of a replica's log an error quotes.
const tailLines = 12

func (m *Manager) tail() string {
	content, err := os.ReadFile(m.log)
	if err != nil || len(content) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return fmt.Sprintf("\n--- %s\n%s", filepath.Base(m.log), strings.Join(lines[max(0, len(lines)-tailLines):], "\n"))
}

// StartManagers starts the replicas of the world's options and makes them the
// webhook's backends.
func (w *World) StartManagers(ctx context.Context) error {
	for i := range max(1, w.options.Managers) {
		m, err := w.StartManager(ctx, fmt.Sprintf("manager-%d", i))
		if err != nil {
			return err
		}
		w.managers = append(w.managers, m)
	}
	w.route()
	return nil
}

// StopManagers ends all replicas at once, so that nobody answers the webhook.
func (w *World) StopManagers(context.Context) error {
	var errs []error
	for _, m := range w.managers {
		errs = append(errs, m.Kill())
	}
	w.managers = nil
	w.route()
	return errors.Join(errs...)
}

// SetManagers says which replicas the Service leads to from now on.
func (w *World) SetManagers(managers ...*Manager) {
	w.managers = managers
	w.route()
}

// Managers are the replicas that the Service leads to.
func (w *World) Managers() []*Manager { return w.managers }

func (w *World) route() {
	addresses := make([]string, 0, len(w.managers))
	for _, m := range w.managers {
		addresses = append(addresses, m.Webhook)
	}
	w.SetBackends(Namespace, ServiceName, addresses...)
}
