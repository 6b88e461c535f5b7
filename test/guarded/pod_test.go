// Package guarded tests quorate-guard with real members: each pod is a folder, the
// program's prepare and serve, and a real etcd, started over and over as a kubelet
// does. The tests are the controller: they write the configuration, and they alone
// remove members.
package guarded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/process"
)

// pod is one member's place, as a kubelet keeps it: prepare runs until it succeeds,
// then etcd starts over and over beside serve, without being prepared again, until
// the pod is deleted.
type pod struct {
	*etcdcluster.Member
	set     *set
	ordinal int

	cancel context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	starts int // of etcd
	ends   []error
	codes  []int // exit codes of prepare since the last forget
}

// restartPause is between two starts: a kubelet waits for longer.
const restartPause = 50 * time.Millisecond

// run makes the pod. One that runs already stays as it is.
func (p *pod) run() {
	if p.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.ended = cancel, make(chan struct{})
	go func() {
		defer close(p.ended)
		if p.prepared(ctx) {
			p.contained(ctx)
		}
	}()
}

// rest deletes the pod, with all that runs in it, by SIGKILL.
func (p *pod) rest() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	<-p.ended
	p.cancel = nil
}

// again deletes the pod and makes it anew, on the same disk.
func (p *pod) again() {
	p.rest()
	p.run()
}

// prepared runs the init container until it succeeds; false if the pod is deleted.
func (p *pod) prepared(ctx context.Context) bool {
	for ctx.Err() == nil {
		code, err := p.guard(ctx, "prepare", "--etcd-config", p.file("etcd.yaml"), "--termination-message", p.file("message"), "--patience", "30s")
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			p.set.complain(err)
		}
		p.mu.Lock()
		p.codes = append(p.codes, code)
		p.mu.Unlock()
		if err == nil && code == 0 {
			return true
		}
		pause(ctx)
	}
	return false
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(restartPause):
	}
}

// contained runs the pod's containers until it is deleted.
func (p *pod) contained(ctx context.Context) {
	beside, err := process.Start(p.file("serve.log"), p.set.binary, p.arguments("serve", "--bind-address", p.probe(), "--etcd-config", p.file("etcd.yaml"))...)
	if err != nil {
		p.set.complain(err)
		return
	}
	defer func() { _ = beside.Stop(syscall.SIGKILL) }() // it may have ended
	for ctx.Err() == nil {
		if err := p.Launch("--config-file=" + p.file("etcd.yaml")); err != nil {
			p.set.complain(err)
			return
		}
		p.mu.Lock()
		p.starts++
		p.mu.Unlock()
		select {
		case <-p.Done():
		case <-ctx.Done():
			_ = p.Kill() // it may have ended just now
		}
		p.mu.Lock()
		p.ends = append(p.ends, p.Alive())
		p.mu.Unlock()
		pause(ctx)
	}
}

// guard runs quorate-guard to its end and answers its exit code.
func (p *pod) guard(ctx context.Context, command string, args ...string) (int, error) {
	log, err := os.OpenFile(p.file("guard.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, p.set.binary, p.arguments(command, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (p *pod) arguments(command string, args ...string) []string {
	return append([]string{command, "--config", p.file("guard.yaml"), "--name", p.Name, "--list-timeout", "3s"}, args...)
}

// file is one of the pod's own, beside its data.
func (p *pod) file(name string) string { return filepath.Join(p.set.Dir, "pods", p.Name, name) }

// probe is where serve listens: at the member's own address.
func (p *pod) probe() string { return p.set.Network.Address(p.ordinal, "8081") }

// forget drops what prepare has answered so far.
func (p *pod) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes = nil
}

// answers are the exit codes of prepare since forget, and the starts of etcd.
func (p *pod) answers() ([]int, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int(nil), p.codes...), p.starts
}

// wipe makes the disk a new one.
func (p *pod) wipe() error {
	if err := os.RemoveAll(p.DataDir); err != nil {
		return fmt.Errorf("wipe the disk of %s: %w", p.Name, err)
	}
	return nil
}
