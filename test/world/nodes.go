package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/quorate/quorate/test/node"
	"github.com/quorate/quorate/test/node/wrap"
)

// startNodes plays the nodes, if they are wanted. The managers find members by the
// nodes' name server: its address reaches them by their environment.
func (w *World) startNodes(ctx context.Context) error {
	if !w.options.Nodes {
		return nil
	}
	programs, err := node.Wrapped(ctx, w.options.Progress, w.options.EtcdMinors...)
	if err != nil {
		return err
	}
	w.Nodes, err = node.Start(ctx, node.Options{
		Config: w.AdminConfig(), Dir: filepath.Join(w.Dir, "nodes"), Programs: programs, ProbeEvery: time.Second,
	})
	if err != nil {
		return err
	}
	if w.Binary == "" {
		if w.Binary, err = programs("quorate", []string{"quorate"}); err != nil {
			return err
		}
	}
	if err := os.Setenv(wrap.DNSVariable, w.Nodes.DNS()); err != nil {
		return fmt.Errorf("tell the managers of the name server: %w", err)
	}
	return nil
}
