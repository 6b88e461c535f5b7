package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const rejoinTimeout = 20 * time.Minute

// startSamples are what test/rejoin prints of one path at one size of the WAL.
type startSamples struct {
	Path   string    `json:"path"`
	MiB    int64     `json:"mib"`
	Millis []float64 `json:"millis"`
	Peak   []float64 `json:"peak"`
}

// usual are the paths that must cost the same for a log of any size.
var usual = []string{"listed", "absent"}

// The promise of the usual paths.
const (
	promisedMillis = 50
	promisedMiB    = 64
	promisedRatio  = 1.0 / 50 // by the recipe, at the largest
	promisedGrowth = 1.25     // of the largest by the smallest, with a busy machine's noise
)

// rejoinRows measure how a member's start is decided, in cold processes, against
// the recipe that reads the whole log for the member's ID.
func rejoinRows(ctx context.Context) ([]Row, error) {
	all, err := starts(ctx)
	if err != nil {
		return nil, err
	}
	find := func(path string, mib int64) startSamples {
		return all[slices.IndexFunc(all, func(s startSamples) bool { return s.Path == path && s.MiB == mib })]
	}
	smallest, largest := all[0].MiB, all[len(all)-1].MiB
	var rows []Row
	for _, s := range all {
		if s.Path == "recipe" {
			continue
		}
		name := fmt.Sprintf("start, %s, WAL %d MiB", s.Path, s.MiB)
		theirs := find("recipe", s.MiB)
		took := compare(name, "ms", "ReadAll", lower, s.Millis, theirs.Millis)
		took.Goal = goalIf(slices.Contains(usual, s.Path) && s.MiB == largest, promisedRatio)
		rows = append(rows, took, compare(name, "MiB", "ReadAll", lower, s.Peak, theirs.Peak))
		if slices.Contains(usual, s.Path) && (s.MiB == smallest || s.MiB == largest) {
			rows = append(rows, against(name, "ms", s.Millis, promisedMillis), against(name, "MiB", s.Peak, promisedMiB))
		}
		if slices.Contains(usual, s.Path) && s.MiB == largest {
			growth := compare(name, "ms", fmt.Sprintf("WAL %d MiB", smallest), lower, s.Millis, find(s.Path, smallest).Millis)
			growth.Goal = promisedGrowth
			rows = append(rows, growth)
		}
	}
	return rows, nil
}

func goalIf(is bool, goal float64) float64 {
	if is {
		return goal
	}
	return 0
}

// against compares with a figure that was promised.
func against(name, unit string, ours []float64, promised float64) Row {
	row := compare(name, unit, fmt.Sprintf("promised %g %s", promised, unit), lower, ours, slices.Repeat([]float64{promised}, len(ours)))
	row.Goal = 1
	return row
}

// starts builds the agent and the measuring program, and runs it.
func starts(ctx context.Context) ([]startSamples, error) {
	ctx, cancel := context.WithTimeout(ctx, rejoinTimeout)
	defer cancel()
	programs, err := filepath.Abs(filepath.Join("..", "..", "bin", "world"))
	if err != nil {
		return nil, fmt.Errorf("find the folder of programs: %w", err)
	}
	for dir, pkgs := range map[string][]string{filepath.Join("..", ".."): {"./cmd/quorate-guard", "./cmd/quorate-guard-reader"}, "..": {"./rejoin"}} {
		args := append([]string{"-C", dir, "build", "-o", programs + string(filepath.Separator)}, pkgs...)
		if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %v: %w: %s", pkgs, err, bytes.TrimSpace(out))
		}
	}
	run := exec.CommandContext(ctx, filepath.Join(programs, "rejoin"), filepath.Join(programs, "quorate-guard"))
	run.Stderr = os.Stderr
	run.Cancel, run.WaitDelay = func() error { return run.Process.Signal(os.Interrupt) }, time.Minute
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("run test/rejoin: %w", err)
	}
	var all []startSamples
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("read what test/rejoin prints: %w", err)
	}
	return all, nil
}
