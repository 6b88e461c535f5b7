// Command demo-restore shows a live restore: a Talos cluster of three control planes and
// a worker that holds its own Quorate, an object store beside it, and a transcript of what
// an administrator types and sees, each line with its time: a backup, something deleted by
// mistake, the plan, the API that goes away and comes back, and what is there afterwards.
// It ends with 1 when an answer is not as expected. The transcript is also written to
// bin/demo-restore.txt.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/product"
	"github.com/quorate/quorate/test/restored"
	"github.com/quorate/quorate/test/s3"
)

func main() {
	log.SetLogger(logr.Discard()) // the transcript says it all
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo-restore:", err)
		os.Exit(1)
	}
}

// errWrong says that the demonstration went through and showed something else.
var errWrong = errors.New("not every answer is as expected: see the lines with ✗")

func run(ctx context.Context) (err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "quorate-demo-restore-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(os.Stderr, "starting three control planes and a worker, and an object store …")
	objects, err := store(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Stop()) }()
	w, err := restored.Start(ctx, restored.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	return perform(ctx, w, objects, dir, began)
}

func store(ctx context.Context, dir string) (*s3.Server, error) {
	binary, err := s3.Binary(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(dir, "store")
	if err := os.Mkdir(at, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	return s3.Start(ctx, binary, at)
}

func perform(ctx context.Context, w *restored.World, objects *s3.Server, dir string, began time.Time) (err error) {
	p, kept, err := newPerformance(ctx, w, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	ready := time.Now()
	p.began = ready
	if err := p.play(ctx, steps(objects)); err != nil {
		return fmt.Errorf("%w\n%s", err, w.ManagerLog())
	}
	p.end(ready.Sub(began))
	if p.wrong > 0 {
		return errWrong
	}
	return nil
}

func newPerformance(ctx context.Context, w *restored.World, dir string) (*performance, *os.File, error) {
	root, err := product.Root(ctx)
	if err != nil {
		return nil, nil, err
	}
	assets, err := cluster.FindAssets(ctx, "", os.Stderr)
	if err != nil {
		return nil, nil, err
	}
	kubeconfig, err := w.WriteKubeconfig(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		return nil, nil, err
	}
	kept, err := os.Create(filepath.Join(root, "bin", "demo-restore.txt"))
	if err != nil {
		return nil, nil, fmt.Errorf("keep the transcript: %w", err)
	}
	return &performance{
		to: io.MultiWriter(os.Stdout, kept), home: dir, kubeconfig: kubeconfig,
		programs: map[string]string{"kubectl": filepath.Join(assets, "kubectl"), "quorate": w.Binary()},
	}, kept, nil
}
