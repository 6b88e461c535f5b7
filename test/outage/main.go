// Command outage measures for how long no API server answers while a cluster is restored
// from its own backup: by the product, which verifies, plans and looks twice, and by hand,
// in a loop that knows everything and asks for the same of the same machines, whose reboots
// take no time.
//
// It prints seconds as JSON; `make bench` makes ratios of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/restored"
	sim "github.com/quorate/quorate/test/talos"
)

func main() {
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "outage:", err)
		os.Exit(1)
	}
}

const (
	// rounds is how often each side is measured, in turn.
	rounds = 5
	// roundLimit bounds one restore, until all machines are Ready.
	roundLimit = 5 * time.Minute
)

// sides are the seconds of each round.
type sides struct {
	Product []float64 `json:"product"`
	Hand    []float64 `json:"hand"`
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "outage-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w, err := restored.Start(ctx, restored.Options{Timing: sim.Timing{Reboot: time.Nanosecond}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	objects, err := w.StartStore(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Stop()) }()
	s := &subject{World: w}
	if s.snapshot, err = s.TakeBackup(ctx, restored.Backup); err != nil {
		return err
	}
	out, err := s.measure(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.ManagerLog())
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func (s *subject) measure(ctx context.Context) (out sides, err error) {
	for i := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "restore, round %d of %d …\n", i, rounds)
		for _, side := range []struct {
			name    string
			restore func(context.Context, int) error
			mend    func(context.Context) error
			row     *[]float64
		}{{"the product", s.byProduct, nothing, &out.Product}, {"a hand", s.byHand, s.mend, &out.Hand}} {
			took, err := s.round(ctx, i, side.restore, side.mend)
			if err != nil {
				return out, fmt.Errorf("restore by %s: %w", side.name, err)
			}
			if i > 0 { // the first warms up
				*side.row = append(*side.row, took.Seconds())
			}
		}
	}
	return out, nil
}

// nothing is left to do after the product.
func nothing(context.Context) error { return nil }

// round is one restore, until all is well again; it answers the time without an API.
func (s *subject) round(ctx context.Context, i int, restore func(context.Context, int) error, mend func(context.Context) error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return 0, err
	}
	silence := s.listen(ctx)
	if err := restore(ctx, i); err != nil {
		return 0, err
	}
	took := silence()
	if err := mend(ctx); err != nil {
		return 0, err
	}
	fmt.Fprintf(os.Stderr, "no API for %s\n", took.Round(time.Millisecond))
	return took, s.settle(ctx)
}
