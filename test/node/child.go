package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/quorate/quorate/test/process"
)

// child is a container's process. A small shell stands around it: it hands on the
// signal to end, and writes down how the program has ended.
type child struct {
	*process.Process
	code string // file of the exit code
}

// childScript runs its arguments behind the first, which is the file for the exit
// code. A signal interrupts a wait, so it waits until nothing is left to wait for.
// The program is halted and killed together with it, as a group.
const childScript = `code=$1; shift
trap 'kill -TERM "$program" 2>/dev/null; kill -CONT "$program" 2>/dev/null' TERM
"$@" &
program=$!
while :; do
  wait "$program"; status=$?
  kill -0 "$program" 2>/dev/null || break
done
echo "$status" >"$code.new" && mv "$code.new" "$code"
`

// command is what a container runs.
type command struct {
	binary string
	args   []string
	env    map[string]string
	dir    string // for what belongs to this container
	log    string
}

func (c command) start() (*child, error) {
	code := filepath.Join(c.dir, "exit-code")
	if err := os.Remove(code); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("forget the last exit code: %w", err)
	}
	args := []string{"-c", childScript, "quorate-test-container", code, "/usr/bin/env", "-i"}
	for name, value := range c.env {
		args = append(args, name+"="+value)
	}
	args = append(append(args, c.binary), c.args...)
	p, err := process.Start(c.log, "/bin/sh", args...)
	if err != nil {
		return nil, err
	}
	return &child{Process: p, code: code}, nil
}

// killedCode is that of a program that got SIGKILL, as a kubelet shows it.
const killedCode = 128 + int(syscall.SIGKILL)

// exitCode is known once the process has ended. Nobody wrote one down if all were
// killed at once.
func (c *child) exitCode() int {
	content, err := os.ReadFile(c.code)
	if err != nil {
		return killedCode
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return killedCode
	}
	return code
}

// everyone sends a signal to the program and to what stands around it.
func (c *child) everyone(signal syscall.Signal) error {
	if err := c.Alive(); err != nil {
		return err
	}
	if err := syscall.Kill(-c.PID(), signal); err != nil {
		return fmt.Errorf("send %s: %w", signal, err)
	}
	return nil
}
