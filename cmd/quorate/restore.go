package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

type restoreOptions struct {
	flags  *genericclioptions.ConfigFlags
	live   bool
	part   liveOptions
	output string
}

const restoreHelp = `Restore a cluster's etcd from a snapshot. Everything written after it is lost.

--live restores a cluster whose API answers. The plan comes first: what happens in
which order, what is lost, what stands in the way. Then it asks, and wants the
cluster's name typed. The controller does the work; --follow shows it, over the time
without an API and through whichever control plane answers.

Exit codes: 0 restored (without --follow: ordered), 1 refused, declined, paused or
failed, 2 usage.`

const restoreExample = `  quorate restore --live --override --follow
  quorate restore --live --cluster prod --backup nightly --snapshot etcd-20300102T150405Z.snapshot.age --override`

func newRestoreCommand() *cobra.Command {
	o := restoreOptions{flags: newConfigFlags()}
	o.flags.ClusterName = nil // --cluster is the TalosCluster
	cmd := &cobra.Command{
		Use:     "restore --live",
		Short:   "Restore a cluster's etcd from a snapshot, which loses all that came after",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRestore(cmd, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.live, "live", false, "restore a cluster whose API answers")
	o.part.addFlags(flags)
	addOutputFlag(cmd, &o.output, listFormats)
	o.flags.AddFlags(flags)
	return cmd
}

var errWhichRestore = errors.New("which restore? Give --live for a cluster whose API answers")

func runRestore(cmd *cobra.Command, o restoreOptions) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	p := newPerson(cmd.InOrStdin(), cmd.ErrOrStderr())
	if !o.live {
		return usageError(errWhichRestore)
	}
	return runLive(cmd, o.flags, o.part, p, o.output)
}

// sleep waits for d, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
