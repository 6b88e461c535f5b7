package restored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

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
// data.
func (w *World) Wipe(ctx context.Context, machines ...*sim.Node) error {
	before := map[string]string{}
	for _, m := range machines {
		before[m.Name] = m.BootID()
		if err := w.by(m.Name, func(n *talos.Restorer) error { return n.Reset(ctx, w.options.Volumes) }); err != nil {
			return err
		}
	}
	return cluster.Until(ctx, "the machines to be wiped", func(context.Context) error {
		for _, m := range machines {
			has, err := m.HasEtcdData()
			if err != nil {
				return err
			}
			if id := m.BootID(); id == "" || id == before[m.Name] || has {
				return fmt.Errorf("%w: %s is in boot %q, etcd's data is there: %t", errNotYet, m.Name, id, has)
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
			return n.Bootstrap(ctx)
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
