// Command demo shows Quorate at work: a real control plane on this machine, Quorate
// installed as it is shipped, and a transcript of kubectl commands and the API server's
// answers; then real etcd members that grow and shrink by an edit of spec.replicas,
// with what happened and when. It ends with 1 when an answer is not as expected.
// The transcript is also written to bin/demo.txt.
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

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// errWrong says that the demonstration went through and showed something else.
var errWrong = errors.New("not every answer is as expected: see the lines with ✗")

func run(ctx context.Context) (err error) {
	began := time.Now()
	w, err := world.Start(ctx, world.Options{Cluster: cluster.Options{ControllerManager: true}, Nodes: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	kept, err := os.Create(filepath.Join(w.Root, "bin", "demo.txt"))
	if err != nil {
		return fmt.Errorf("keep the transcript: %w", err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	transcripts := []*script.Transcript{{To: os.Stdout, Colours: script.Colourful(os.Stdout)}, {To: kept}}
	return play(ctx, w, transcripts, began)
}

func play(ctx context.Context, w *world.World, transcripts []*script.Transcript, began time.Time) error {
	ready := time.Now()
	player := &script.Player{Stage: w}
	for _, t := range transcripts {
		player.Tellers = append(player.Tellers, t)
	}
	result, err := player.Play(ctx, script.All())
	if err != nil {
		return fmt.Errorf("%w%s", err, w.Logs())
	}
	lived, err := playMembers(ctx, w, transcripts)
	if err != nil {
		return fmt.Errorf("%w%s", err, w.Logs())
	}
	result.Steps, result.Wrong = result.Steps+lived.Steps, result.Wrong+lived.Wrong
	for _, t := range transcripts {
		t.End(result, time.Since(ready), ready.Sub(began))
	}
	if result.Wrong > 0 {
		return errWrong
	}
	return nil
}
