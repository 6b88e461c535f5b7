// Command patch measures how long a PATCH of an Etcd takes at a real API server,
// by what admits it: nothing, a webhook that allows everything, the gate, or the
// policies instead of the gate. CRDs have no rules here, so nothing else differs.
//
// It prints every latency as JSON; `make bench` makes ratios of them. It is a
// program of its own since the benchmark's module lifts versions that the control
// plane's helpers are held to.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/test/world"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "patch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == allowCommand {
		return allowEverything(os.Stdin, os.Stdout)
	}
	return bench(ctx, os.Stdout)
}

func bench(ctx context.Context, out io.Writer) (err error) {
	w, err := world.Start(ctx, world.Options{Without: []cel.Layer{cel.LayerCRD, cel.LayerVAP}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	allow, err := startAllow(ctx, w.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allow.stop()) }()
	sides, err := newSides(w)
	if err != nil {
		return err
	}
	if err := install(ctx, w, allow, sides); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "measuring PATCH …")
	if err := measure(ctx, sides); err != nil {
		return err
	}
	if err := proven(ctx, sides); err != nil {
		return fmt.Errorf("after measuring: %w", err)
	}
	if err := json.NewEncoder(out).Encode(sides); err != nil {
		return fmt.Errorf("print the latencies: %w", err)
	}
	return nil
}
