// Command sealing measures what it costs to encrypt a snapshot into a store and to
// verify it there, against age's own program and sha256sum on the same bytes: side by
// side in pipelines that give the same sums and files. Each of ours is a process of
// its own, whose memory is looked at while it works.
//
// It prints seconds and bytes as JSON; `make bench` makes ratios of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sealing:", err)
		os.Exit(1)
	}
}

const (
	rounds = 9
	// dataMiB is the size of the snapshot.
	dataMiB = 256
)

// sides are the seconds of each round, and the most memory that no file backs, in MiB.
type sides struct {
	MiB     int64     `json:"mib"`
	Seal    []float64 `json:"seal"`
	SealAge []float64 `json:"sealAge"`
	// SealAlone is age without any sum.
	SealAlone  []float64 `json:"sealAlone"`
	SealPeak   []float64 `json:"sealPeak"`
	Verify     []float64 `json:"verify"`
	VerifyAge  []float64 `json:"verifyAge"`
	VerifyPeak []float64 `json:"verifyPeak"`
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 2 {
		return ours(ctx, args[0], args[1])
	}
	dir, err := os.MkdirTemp("", "sealing-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := newSubject(ctx, dir)
	if err != nil {
		return err
	}
	out := sides{MiB: dataMiB}
	for i := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "round %d of %d …\n", i, rounds)
		if err := s.round(ctx, &out); err != nil {
			return err
		}
		if i == 0 { // it warms up
			out = sides{MiB: dataMiB}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
