package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// errOverdue is why a context of a piece of work ends by itself.
var errOverdue = errors.New("the time for it is over")

// child is a process that does one piece of work.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	words  *head
	opened bool // it began with the database itself
}

// reapTimeout is how long a child that was killed may hold its pipes.
const reapTimeout = 5 * time.Second

// start has no more of this process's environment than nothing: it holds credentials.
func start(ctx context.Context, command []string, job Job) (*child, error) {
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		command = []string{self, Role}
	}
	line, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, command[0], command[1:]...), words: &head{}}
	c.cmd.Env, c.cmd.Stderr, c.cmd.WaitDelay = []string{"GOTRACEBACK=single"}, c.words, reapTimeout
	// A group of its own: what a terminal sends to stop this process is not for it.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	// The pipe takes a line at once; a child that is dead already says so by its answer.
	_, _ = c.stdin.Write(append(line, '\n'))
	return c, nil
}

// end waits for it. One that gave the end of its answer, or is wanted no more, is killed.
func (c *child) end(kill bool) {
	if kill {
		_ = c.cmd.Process.Kill() // it may be gone
	}
	_ = c.cmd.Wait() // death tells
}

// death says what a child died of that gave no end to its answer.
func (c *child) death() error {
	state := c.cmd.ProcessState
	words := c.words.crash()
	if !c.opened {
		return fmt.Errorf("%w: the child ended before it began: %v: %s", ErrWorker, state, words)
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() || isCrash(status.Signal()) {
		return fmt.Errorf("%w: the child that opened it died: %v: %s", ErrDamaged, state, words)
	}
	return fmt.Errorf("%w: the child was stopped from outside: %v; see whether it had too little memory", ErrWorker, state)
}

// isCrash tells a signal that a process brings upon itself from one that it is sent.
func isCrash(s syscall.Signal) bool {
	switch s {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGSYS:
		return true
	}
	return false
}

// maxHead bounds what is kept of a child's words, in bytes.
const maxHead = 8 << 10

// head keeps the beginning of what is written to it: a crash begins with its reason.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), maxHead-h.Len())])
	return len(p), nil
}

// crash is its first line, which is the reason of a Go program.
func (h *head) crash() string {
	line, _, _ := strings.Cut(strings.TrimSpace(h.String()), "\n")
	if line == "" {
		return "it said nothing"
	}
	return short(line)
}
