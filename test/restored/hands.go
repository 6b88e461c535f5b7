package restored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/test/cluster"
	sim "github.com/quorate/quorate/test/talos"
)

// Node is the product's client of a machine, for what a person would do by hand. The
// caller closes it.
func (w *World) Node(name string) (*talos.Restorer, error) {
	return talos.NewRestorer(w.Bundle, talos.Options{Address: w.Talos.Node(name).Endpoint()})
}

// by does something through a machine's own API.
func (w *World) by(name string, do func(*talos.Restorer) error) error {
	n, err := w.Node(name)
	if err == nil {
		err = errors.Join(do(n), n.Close())
	}
	if err != nil {
		return fmt.Errorf("ask %s: %w", name, err)
	}
	return nil
}

// Snapshot is one of etcd by a machine's API, with its sum at the end.
func (w *World) Snapshot(ctx context.Context, name string) (content []byte, err error) {
	err = w.by(name, func(n *talos.Restorer) error {
		stream, err := n.Snapshot(ctx)
		if err != nil {
			return err
		}
		content, err = io.ReadAll(stream)
		return errors.Join(err, stream.Close())
	})
	return content, err
}

// Wipe resets the machines at once, and waits until all have booted again without etcd's
// data. One that boots before the others are wiped joins the old etcd again, and is reset
// once more.
func (w *World) Wipe(ctx context.Context, machines ...*sim.Node) error {
	asked := make([]string, len(machines)) // the boots that a reset was asked for in
	reset := func(i int) error {
		asked[i] = machines[i].BootID()
		return w.by(machines[i].Name, func(n *talos.Restorer) error { return n.Reset(ctx, w.options.Volumes) })
	}
	errs := make([]error, len(machines))
	var resets sync.WaitGroup
	for i := range machines {
		resets.Go(func() { errs[i] = reset(i) })
	}
	resets.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return cluster.Until(ctx, "the machines to be wiped", func(context.Context) error {
		for i, m := range machines {
			id := m.BootID()
			has, err := m.HasEtcdData()
			if err != nil {
				return err
			}
			if has && id != "" && id != asked[i] {
				err = reset(i)
			}
			if id == "" || id == asked[i] || has {
				return fmt.Errorf("%w: %s is in boot %q, etcd's data is there: %t; asked once more: %v", errNotYet, m.Name, id, has, err)
			}
		}
		return nil
	})
}

// Recover founds etcd anew on a machine that has none, from a snapshot, and waits until
// all control planes vote.
func (w *World) Recover(ctx context.Context, name string, snapshot []byte) error {
	err := cluster.Until(ctx, name+" to take the snapshot", func(ctx context.Context) error {
		return w.by(name, func(n *talos.Restorer) error {
			if err := n.Recover(ctx, bytes.NewReader(snapshot)); err != nil {
				return err
			}
			// Data are those of a call whose answer was lost: the votes below show it.
			if err := n.Bootstrap(ctx); !errors.Is(err, talos.ErrHasData) {
				return err
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, m := range w.Talos.ControlPlanes() {
		if err := m.Voting(ctx); err != nil {
			return err
		}
	}
	return nil
}
