// Command bench measures the gate against what others offer, both sides in one
// run and in turn, so that a busy machine slows both. It prints a table and writes
// bin/bench.json. ONLY=regexp in the environment runs a part, and the rows of the
// others stay as they were.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"text/tabwriter"
)

// group is a set of measurements that share a set-up.
type group struct {
	name string
	run  func(ctx context.Context) ([]Row, error)
}

func groups() []group {
	return []group{
		{"engine", engineRows},
		{"handler", handlerRows},
		{"tls", tlsRows},
		{"patch", patchRows},
		{"rejoin", rejoinRows},
		{"idle", idleRows},
		{"shrink", shrinkRows},
		{"sealing", sealingRows},
		{"outage", outageRows},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Getenv("ONLY"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("read ONLY: %w", err)
	}
	var rows []Row
	for _, g := range groups() {
		if !pattern.MatchString(g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", g.name)
		measured, err := g.run(ctx)
		if err != nil {
			return fmt.Errorf("measure %s: %w", g.name, err)
		}
		rows = append(rows, measured...)
	}
	if err := table(rows); err != nil {
		return err
	}
	path := filepath.Join("..", "..", "bin", "bench.json")
	before, err := read(path)
	if err != nil {
		return err
	}
	return write(path, merged(before, rows))
}

func table(rows []Row) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NAME\tVALUE\tUNIT\tAGAINST\tRATIO\tSPREAD\tGOAL")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%.2f\t%s\t%s\t%.2f\t%.2f-%.2f\t%s\n", r.Name, r.Value, r.Unit, r.Against, r.Ratio, r.Spread[0], r.Spread[1], r.goal())
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// read gives the rows of earlier runs, if there are any.
func read(path string) ([]Row, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var rows []Row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return rows, nil
}

// merged puts new rows in the place of those that they measure again, and behind
// the others what was not measured before: a part of the benchmarks leaves the
// rest as it was.
func merged(before, measured []Row) []Row {
	rows := slices.Clone(before)
	for _, row := range measured {
		same := func(r Row) bool { return r.Name == row.Name && r.Against == row.Against }
		if i := slices.IndexFunc(rows, same); i >= 0 {
			rows[i] = row
		} else {
			rows = append(rows, row)
		}
	}
	return rows
}

func write(path string, rows []Row) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
