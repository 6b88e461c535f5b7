package world

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

// process is a child that runs until it is stopped. It has a group of its own,
// so that an interrupt at the terminal reaches us alone and things end in order.
type process struct {
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
	errEnded = errors.New("the process has ended")
	errKept  = errors.New("the process did not end and was killed")
)

// run starts a child whose output goes to a file.
func run(logFile string, binary string, args ...string) (*process, error) {
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
	p := &process{cmd: cmd, log: log, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	if p.guard, err = watch(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, p.stop(syscall.SIGKILL))
	}
	return p, nil
}

// alive answers an error if the child has ended.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%w: %v", errEnded, p.err)
	default:
		return nil
	}
}

// stop sends the signal and waits for the end.
func (p *process) stop(signal syscall.Signal) error {
	defer p.log.Close()
	defer p.guard.dismiss()
	if err := p.alive(); err != nil {
		return fmt.Errorf("before it was stopped: %w", err)
	}
	if err := p.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("stop %s: %w", p.cmd.Path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop %s: %w", p.cmd.Path, errKept), p.cmd.Process.Kill())
	}
}

// watchdog ends a child whose parent is gone, however it went: its standard
// input is a pipe that the kernel closes then.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func watch(pid int) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", `cat >/dev/null; kill -TERM "$1"`, "quorate-test-watchdog", strconv.Itoa(pid))
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
