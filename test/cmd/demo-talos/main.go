// Command demo-talos shows how Quorate takes a Talos machine out of its cluster: Talos
// machines with a real etcd each, a real control plane with Quorate installed as it is
// shipped, and a transcript of kubectl commands and their answers, with the conditions
// as they change and etcd's own member list before and after. It ends with 1 when an
// answer is not as expected. The transcript is also written to bin/demo-talos.txt.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/fleet"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

func main() {
	log.SetLogger(logr.Discard()) // the transcript says it all
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo-talos:", err)
		os.Exit(1)
	}
}

const (
	namespace   = "default"
	clusterName = "factory"
	// grace is short, so that nobody waits for the audit.
	grace = 5 * time.Second
)

// errWrong says that the demonstration went through and showed something else.
var errWrong = errors.New("not every answer is as expected: see the lines with ✗")

func run(ctx context.Context) (err error) {
	began := time.Now()
	w, err := world.Start(ctx, world.Options{
		Cluster: cluster.Options{ControllerManager: true}, Controllers: true,
		ManagerFlags: []string{"--unknown-member-grace=" + grace.String()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	fmt.Fprintln(os.Stderr, "starting three Talos machines …")
	f, err := fleet.Start(ctx, fleet.Options{Config: w.AdminConfig(), Namespace: namespace, Cluster: clusterName, ControlPlanes: 3})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	kept, err := os.Create(filepath.Join(w.Root, "bin", "demo-talos.txt"))
	if err != nil {
		return fmt.Errorf("keep the transcript: %w", err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s := newShow(w, f, &script.Transcript{To: &whole{to: os.Stdout}, Colours: script.Colourful(os.Stdout)}, &script.Transcript{To: &whole{to: kept}})
	return perform(ctx, s, began)
}

func perform(ctx context.Context, s *show, began time.Time) error {
	ready := time.Now()
	follow, err := s.follow(ctx)
	if err != nil {
		return err
	}
	err = s.play(ctx, scenes(s.fleet))
	follow()
	if err != nil {
		return fmt.Errorf("%w%s%s", err, s.world.Logs(), s.fleet.Talos.Logs())
	}
	for _, t := range s.transcripts {
		t.End(s.result, time.Since(ready), ready.Sub(began))
	}
	if s.result.Wrong > 0 {
		return errWrong
	}
	return nil
}
