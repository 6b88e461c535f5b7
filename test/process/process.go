// Package process runs the programs that tests are made against, each as a child
// that cannot outlive the test.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Process is a child that runs until it is stopped or ends by itself. It has a
// group of its own, so that an interrupt at the terminal reaches us alone and
// things end in order.
type Process struct {
	cmd   *exec.Cmd
	log   *os.File
	guard *watchdog
	ended chan struct{} // closed when the process has ended; err is set by then
	err   error
}

// stopTimeout is how long a child may take to end by itself.
const stopTimeout = 45 * time.Second

// What can be wrong with a child.
var (
	// ErrEnded: it has ended already.
	ErrEnded = errors.New("the process has ended")
	// ErrKept: it did not end when it was asked to, and was killed.
	ErrKept = errors.New("the process did not end and was killed")
)

// Start starts a child whose output is added to a file.
func Start(logFile string, binary string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open a log: %w", err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", binary, err), log.Close())
	}
	p := &Process{cmd: cmd, log: log, ended: make(chan struct{})}
	p.guard, err = watch(cmd.Process.Pid)
	go p.wait()
	if err != nil {
		return nil, errors.Join(err, p.Stop(syscall.SIGKILL))
	}
	return p, nil
}

// wait collects the child and what was around it.
func (p *Process) wait() {
	p.err = p.cmd.Wait()
	p.guard.dismiss()
	_ = p.log.Close()
	close(p.ended)
}

// PID is the child's process ID; it is free for others once the child has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the child has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Alive answers ErrEnded, and how it ended, if the child has.
func (p *Process) Alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%w: %v", ErrEnded, p.err)
	default:
		return nil
	}
}

// Signal sends a signal and does not wait. A child that has ended is an error:
// ErrEnded.
func (p *Process) Signal(signal syscall.Signal) error {
	err := p.cmd.Process.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", signal, p.cmd.Path, ErrEnded)
	}
	if err != nil {
		return fmt.Errorf("send %s to %s: %w", signal, p.cmd.Path, err)
	}
	return nil
}

// Stop sends the signal and waits for the end. A child that has ended before is an
// error: ErrEnded.
func (p *Process) Stop(signal syscall.Signal) error {
	if err := p.Alive(); err != nil {
		return fmt.Errorf("before it was stopped: %w", err)
	}
	if err := p.Signal(signal); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop %s: %w", p.cmd.Path, ErrKept), p.cmd.Process.Kill())
	}
}

// watchdog ends a child whose parent is gone, however it went: its standard
// input is a pipe that the kernel closes then.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// watchScript wakes a child that was halted: it would not end otherwise.
const watchScript = `cat >/dev/null; kill -TERM "$1"; kill -CONT "$1"`

func watch(pid int) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watchScript, "quorate-test-watchdog", strconv.Itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: pipe}, nil
}

// dismiss ends the watchdog before it acts: the ID may be another's by then.
func (w *watchdog) dismiss() {
	if w == nil {
		return
	}
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL)
	_ = w.cmd.Wait() // it was killed, and says so
	_ = w.pipe.Close()
}
