// Command rejoin measures how a member's start is decided, in cold processes: the
// verdicts of quorate-guard check, and the usual recipe for reading a member's ID,
// wal.OpenForRead and ReadAll. It prints
// JSON for test/bench. The page cache is warm for both.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rejoin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "recipe":
		return recipe(args[1])
	case len(args) != 1:
		return fmt.Errorf("usage: rejoin <quorate-guard> | rejoin recipe <wal>")
	}
	dir, err := os.MkdirTemp("", "rejoin")
	if err != nil {
		return fmt.Errorf("make a folder for disks: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	samples, err := measure(ctx, args[0], dir)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(samples); err != nil {
		return fmt.Errorf("print the samples: %w", err)
	}
	return nil
}
