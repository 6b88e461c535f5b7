// Command shrink measures how long an etcd cluster takes from five members to three:
// by an edit of spec.replicas that the controller follows, and by the same steps in a
// script, which removes both members, deletes their volumes and lowers the StatefulSet
// without a look at anything. The script's etcd calls are made in this process, which
// is faster than starting etcdctl; its kubectl is real.
//
// It prints seconds as JSON; `make bench` makes ratios of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node/wrap"
	"github.com/quorate/quorate/test/world"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "shrink:", err)
		os.Exit(1)
	}
}

// rounds is how often each side is measured, in turn.
const rounds = 6

// sides are the seconds of each round.
type sides struct {
	Product []float64 `json:"product"`
	Script  []float64 `json:"script"`
}

func run(ctx context.Context) (err error) {
	w, err := world.Start(ctx, world.Options{Cluster: cluster.Options{ControllerManager: true}, Nodes: true, Controllers: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	net.DefaultResolver = wrap.Resolver(w.Nodes.DNS())
	s := &subject{World: w}
	defer func() { err = errors.Join(err, s.end()) }()
	if err := s.begin(ctx); err != nil {
		return err
	}
	var out sides
	for i := range rounds {
		fmt.Fprintf(os.Stderr, "5 to 3, round %d of %d …\n", i+1, rounds)
		for _, side := range []struct {
			do    func(context.Context) error
			alone bool // the controllers are away meanwhile
			row   *[]float64
		}{{s.byProduct, false, &out.Product}, {s.byScript, true, &out.Script}} {
			took, err := s.round(ctx, side.alone, side.do)
			if err != nil {
				return err
			}
			*side.row = append(*side.row, took)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return fmt.Errorf("print the seconds: %w", err)
	}
	return nil
}
