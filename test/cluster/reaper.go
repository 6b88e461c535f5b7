package cluster

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// reaper is a small shell process that outlives this one. A test that panics,
// times out or is killed runs no cleanup, and envtest puts its processes into
// groups of their own, so nothing else would end them.
type reaper struct {
	dir  string
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// reaperScript waits for the end of its input, which the kernel closes when the
// starter is gone, however it went. $1: folder of pid files, $2: folder to remove.
// A process that is only waiting to be collected still answers kill -0, hence
// the bound on each wait.
const reaperScript = `cat >/dev/null
for name in kube-controller-manager kube-apiserver etcd; do
  pid=$(cat "$1/$name.pid" 2>/dev/null) || continue
  kill -TERM "$pid" 2>/dev/null || continue
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 150 ]; do
    tries=$((tries+1))
    [ $tries -eq 100 ] && kill -KILL "$pid" 2>/dev/null
    sleep 0.1
  done
done
[ -z "$2" ] || rm -rf "$2"
`

// startReaper keeps pid files in dir and removes the folder remove, if any,
// when it had to act.
func startReaper(dir, remove string) (*reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "quorate-test-reaper", dir, remove)
	cmd.Dir = "/"
	// A group of its own: an interrupt at the terminal must not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &reaper{dir: dir, cmd: cmd, pipe: pipe}, nil
}

// watch answers the path of a wrapper that records its process ID and becomes
// the given binary.
func (r *reaper) watch(binary string) (string, error) {
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("find the binary: %w", err)
	}
	name := filepath.Base(binary)
	wrapper := filepath.Join(r.dir, name)
	script := fmt.Sprintf("#!/bin/sh\necho $$ >'%s.pid'\nexec '%s' \"$@\"\n", wrapper, binary)
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		return "", fmt.Errorf("wrap %s: %w", name, err)
	}
	return wrapper, nil
}

// pid is the process ID that a watched binary last started with.
func (r *reaper) pid(name string) (int, error) {
	content, err := os.ReadFile(filepath.Join(r.dir, name+".pid"))
	if err != nil {
		return 0, fmt.Errorf("find the process of %s: %w", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("find the process of %s: %w", name, err)
	}
	return pid, nil
}

// dismiss ends the reaper without letting it act: the processes have ended, and
// their IDs may belong to others by now.
func (r *reaper) dismiss() error {
	if r == nil {
		return nil
	}
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("dismiss the reaper: %w", err)
	}
	_ = r.cmd.Wait() // it was killed, and says so
	_ = r.pipe.Close()
	return nil
}
