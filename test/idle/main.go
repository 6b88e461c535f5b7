// Command idle measures what many Etcds with nothing to do cost: memory and CPU of the
// manager, gate and controllers in one process, and its requests to the API server. All
// have spec.replicas 0: each has its StatefulSet, Services and the rest, but no pods,
// which a machine for tests could not run, so etcd itself is never asked. It prints
// JSON for test/bench.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/reconcilers/etcd"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// sizes are how many Etcds there are at a time.
var sizes = []int{100, 1000}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	w, err := world.Start(ctx, world.Options{
		Cluster: cluster.Options{
			ControllerManager: true, AuditPolicy: auditPolicy,
			// The usual /24 of tests has no address left after 254 Services.
			APIServerFlags: map[string][]string{"service-cluster-ip-range": {"10.96.0.0/16"}},
		},
		Controllers: true,
		// As it is shipped; the other tests would wait for it.
		ManagerFlags: []string{fmt.Sprintf("--certificate-poll=%s", certs.DefaultPolicy().Poll)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	scheme, err := etcd.Scheme()
	if err != nil {
		return err
	}
	admin, err := client.New(w.AdminConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	var out []*samples
	for _, size := range sizes {
		s, err := at(ctx, w, admin, size)
		if err != nil {
			return fmt.Errorf("with %d Etcds: %w", size, err)
		}
		out = append(out, s)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return fmt.Errorf("print the samples: %w", err)
	}
	return nil
}

// at makes Etcds until there are so many, waits until all are at rest, and measures.
func at(ctx context.Context, w *world.World, admin client.Client, size int) (*samples, error) {
	took, err := fill(ctx, admin, size)
	if err != nil {
		return nil, err
	}
	s := &samples{Etcds: size, Filled: took.Seconds()}
	if err := s.measure(ctx, w.Managers()[0].Metrics, w.AuditLog()); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(os.Stderr, "%+v\n", *s)
	return s, nil
}
