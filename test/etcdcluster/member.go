package etcdcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/process"
)

// Member is one etcd, which may run or not.
type Member struct {
	Name, PeerURL, ClientURL, DataDir string

	cluster *Cluster
	mu      sync.Mutex // others look whether the member runs while it is started
	running *process.Process
	learner bool // added as one and not promoted
}

// errNeverStarted is the error of a member that had no process yet.
var errNeverStarted = errors.New("it was never started")

// StartAsFounder starts the member on an empty disk as one of a new cluster.
func (m *Member) StartAsFounder(founders ...*Member) error {
	return m.Launch(m.flags("new", initialCluster(founders))...)
}

// StartAsJoiner starts the member on an empty disk; the cluster has been told of
// it, and has the others and nobody else.
func (m *Member) StartAsJoiner(others ...*Member) error {
	return m.Launch(m.flags("existing", initialCluster(append(others, m)))...)
}

// Restart starts the member with its disk as it is.
func (m *Member) Restart() error { return m.Launch(m.flags("existing", m.Name+"="+m.PeerURL)...) }

func (m *Member) flags(state, initial string) []string {
	return append([]string{
		"--name=" + m.Name, "--data-dir=" + m.DataDir,
		"--listen-peer-urls=" + m.PeerURL, "--initial-advertise-peer-urls=" + m.PeerURL,
		"--listen-client-urls=" + m.ClientURL, "--advertise-client-urls=" + m.ClientURL,
		"--initial-cluster=" + initial, "--initial-cluster-state=" + state,
		"--initial-cluster-token=" + m.cluster.Token,
	}, m.cluster.Flags...)
}

// Launch starts the release's server with these arguments and no others, such as a
// configuration file that something else has written.
func (m *Member) Launch(args ...string) error {
	if m.Alive() == nil {
		return fmt.Errorf("start %s: it runs", m.Name)
	}
	p, err := process.Start(m.log(), m.cluster.Release.Server, args...)
	if err != nil {
		return fmt.Errorf("start %s: %w", m.Name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = p
	return nil
}

// process is the one that was started last; nil if none was.
func (m *Member) process() *process.Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running
}

// Alive answers an error if the member has no process.
func (m *Member) Alive() error {
	if m.process() == nil {
		return fmt.Errorf("%s: %w", m.Name, errNeverStarted)
	}
	return m.process().Alive()
}

// Stop lets the member end in order, as a kubelet does.
func (m *Member) Stop() error { return m.end(syscall.SIGTERM) }

// Kill ends the member at once.
func (m *Member) Kill() error { return m.end(syscall.SIGKILL) }

func (m *Member) end(signal syscall.Signal) error {
	if m.process() == nil {
		return fmt.Errorf("stop %s: %w", m.Name, errNeverStarted)
	}
	if err := m.process().Stop(signal); err != nil {
		return fmt.Errorf("stop %s: %w", m.Name, err)
	}
	return nil
}

// Halt stops the member's clock: it neither answers nor ends until Resume. Each of
// its threads has stopped when Halt returns, which takes a while on a busy machine.
func (m *Member) Halt(ctx context.Context) error {
	if err := m.process().Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return cluster.Until(ctx, m.Name+" to be halted", func(context.Context) error { return halted(m.process().PID()) })
}

var errRuns = errors.New("a thread still runs")

// halted reads the state of each thread: a letter behind its name in parentheses
// (proc(5)).
func halted(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return fmt.Errorf("%w: process %d has none (%v)", process.ErrEnded, pid, err)
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := bytes.LastIndexByte(stat, ')'); !bytes.HasPrefix(stat[i+1:], []byte(" T")) {
			return fmt.Errorf("%w: %s", errRuns, stat)
		}
	}
	return nil
}

// Resume lets a halted member go on.
func (m *Member) Resume() error { return m.process().Signal(syscall.SIGCONT) }

// Done is closed when the process that was started last has ended.
func (m *Member) Done() <-chan struct{} { return m.process().Ended() }

// endTimeout is long against the second that etcd takes to leave.
const endTimeout = 30 * time.Second

// Ended waits until the member has ended by itself.
func (m *Member) Ended(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	select {
	case <-m.process().Ended():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w\n%s", m.Name, context.Cause(ctx), m.tail())
	}
}

func (m *Member) log() string { return filepath.Join(m.cluster.Dir, "logs", m.Name+".log") }

// Log is all that the member has logged, over all its starts.
func (m *Member) Log() string {
	content, err := os.ReadFile(m.log())
	if err != nil {
		return err.Error()
	}
	return string(content)
}
