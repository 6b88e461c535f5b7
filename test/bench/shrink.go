package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	shrinkTimeout = 30 * time.Minute // with a control plane to build
	shrinkGoal    = 1.3
)

// shrinkRows measure from five members to three against a script that looks at nothing.
func shrinkRows(ctx context.Context) ([]Row, error) {
	var seconds struct{ Product, Script []float64 }
	out, err := runProgram(ctx, "shrink", shrinkTimeout)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &seconds); err != nil {
		return nil, fmt.Errorf("read what test/shrink prints: %w", err)
	}
	row := compare("etcd from 5 to 3 members", "s", "script", lower, seconds.Product, seconds.Script)
	row.Goal = shrinkGoal
	return []Row{row}, nil
}

// runProgram builds a program of the test module and answers what it prints.
func runProgram(ctx context.Context, name string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	program, err := filepath.Abs(filepath.Join("..", "..", "bin", "world", name))
	if err != nil {
		return nil, fmt.Errorf("find the folder of programs: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./"+name)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build test/%s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	run := exec.CommandContext(ctx, program)
	run.Dir, run.Stderr = "..", os.Stderr
	run.Cancel, run.WaitDelay = func() error { return run.Process.Signal(os.Interrupt) }, patchGrace
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("run test/%s: %w", name, err)
	}
	return out, nil
}
