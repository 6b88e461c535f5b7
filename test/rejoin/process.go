package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const processTimeout = 2 * time.Minute

// timed runs a program to its end, whatever its exit code, and gives what it printed
// and how long it took.
func timed(ctx context.Context, program string, args ...string) (out []byte, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, processTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	began := time.Now()
	out, err = cmd.Output()
	took = time.Since(began)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return out, took, nil
	}
	return out, took, err
}

// peak runs a program to its end and gives the most anonymous memory, in bytes,
// that it and its children had together, looked at every half millisecond. That is
// RssAnon of /proc: the peaks that the kernel keeps (VmHWM, ru_maxrss) count the
// pages of mapped files, which it can drop. What a garbage-collected heap has had
// it keeps for seconds, so that little is missed.
func peak(ctx context.Context, program string, args ...string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, processTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ticks := time.NewTicker(500 * time.Microsecond)
	defer ticks.Stop()
	most := int64(0)
	for {
		select {
		case err := <-done:
			if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() > 0) {
				return 0, fmt.Errorf("run %s: %w", program, err)
			}
			return most, nil
		case <-ticks.C:
			most = max(most, anonymous(strconv.Itoa(cmd.Process.Pid)))
		}
	}
}

// anonymous is 0 for a process that is gone.
func anonymous(pid string) int64 {
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0
	}
	var kib int64
	if _, rest, ok := bytes.Cut(status, []byte("RssAnon:")); ok {
		_, _ = fmt.Sscan(string(rest), &kib)
	}
	total := kib << 10
	lists, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	for _, path := range lists {
		children, _ := os.ReadFile(path)
		for _, child := range strings.Fields(string(children)) {
			total += anonymous(child)
		}
	}
	return total
}
