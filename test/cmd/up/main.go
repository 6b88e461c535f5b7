// Command up runs the world of the demonstration until it is interrupted, and
// says how to reach it and what to try.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	w, err := world.Start(ctx, world.Options{Cluster: cluster.Options{ControllerManager: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	if err := greet(out, w); err != nil {
		return err
	}
	<-ctx.Done()
	_, _ = fmt.Fprintln(out, "\nstopping …")
	return nil
}

// greet prints how to reach the world and what to try, to be copied.
func greet(out io.Writer, w *world.World) error {
	var text strings.Builder
	text.WriteString("\nQuorate runs on a control plane of its own. Interrupt (Ctrl-C) ends it and removes all of it.\n\nIn another terminal:\n\n")
	fmt.Fprintf(&text, "export PATH=%s:%s:$PATH\n", w.Assets(), filepath.Dir(w.Binary))
	for _, who := range []struct{ variable, actor, what string }{
		{"KUBECONFIG", world.Alice, "may edit all kinds of Quorate"},
		{"ADMIN", world.Admin, "may do everything"},
		{"CONTROLLER", world.Controller, "Quorate's own identity, which the gate lets through"},
	} {
		access, err := w.Access(who.actor)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "export %s=%s # %s\n", who.variable, access.Kubeconfig, who.what)
	}
	text.WriteString("\nThings to try:\n")
	for _, step := range script.Tries() {
		fmt.Fprintf(&text, "\n# %s: %s\n%s\n", strings.TrimPrefix(step.Name, "try: "), step.Want, typed(step))
	}
	fmt.Fprintf(&text, "\n# which layer says what about a change, without making it\nquorate why --help\n\n# is the gate in order?\nquorate doctor --kubeconfig $ADMIN\n\nLogs: %s/logs\n", w.Dir)
	_, err := io.WriteString(out, text.String())
	return err
}

// typed is the step as a person types it.
func typed(s script.Step) string {
	command := s.Command
	if s.As == script.Controller {
		command = "KUBECONFIG=$CONTROLLER " + command
	}
	if s.Input == "" {
		return command
	}
	return command + " <<'EOF'\n" + s.Input + "EOF"
}
