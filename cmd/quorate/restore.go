package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

type restoreOptions struct {
	flags         *genericclioptions.ConfigFlags
	live, recover bool
	livePart      liveOptions
	recoverPart   recoverOptions
	output        string
}

const restoreHelp = `Restore a cluster's etcd from a snapshot. Everything written after it is lost.

--live restores a cluster whose API answers. The plan comes first: what happens in
which order, what is lost, what stands in the way. Then it asks, and wants the
cluster's name typed. The controller does the work; --follow shows it, over the time
without an API and through whichever control plane answers.

--recover-cluster needs no Kubernetes: this process wipes and recovers the control
planes itself, from the secrets bundle and the object store. It goes on with a restore
that has stopped half-way, and begins one for a cluster that is lost. A control plane
that stays off is left out with --without. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and,
for credentials that last for a time, AWS_SESSION_TOKEN are the store's.

Exit codes: 0 restored (with --live and without --follow: ordered), 1 refused, declined,
paused or failed, 2 usage.`

const restoreExample = `  quorate restore --live --override --follow
  quorate restore --live --cluster prod --backup nightly --snapshot etcd-20300102T150405Z.snapshot.age --override
  quorate restore --recover-cluster --bundle secrets.yaml --store s3://backups/prod --s3-endpoint https://s3.example.com \
    --snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.11 --node-endpoint 192.0.2.12 --node-endpoint 192.0.2.13`

func newRestoreCommand() *cobra.Command {
	o := restoreOptions{flags: newConfigFlags()}
	o.flags.ClusterName = nil // --cluster is the TalosCluster
	cmd := &cobra.Command{
		Use:     "restore (--live | --recover-cluster)",
		Short:   "Restore a cluster's etcd from a snapshot, with its API or without",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRestore(cmd, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.live, "live", false, "restore a cluster whose API answers")
	flags.BoolVar(&o.recover, "recover-cluster", false, "recover a cluster without its API, or go on with a restore that has stopped")
	o.livePart.addFlags(flags)
	o.recoverPart.addFlags(flags)
	addOutputFlag(cmd, &o.output, listFormats)
	o.flags.AddFlags(flags)
	return cmd
}

var errWhichRestore = errors.New("which restore? Give --live for a cluster whose API answers, or --recover-cluster for one without")

func runRestore(cmd *cobra.Command, o restoreOptions) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	p := newPerson(cmd.InOrStdin(), cmd.ErrOrStderr())
	if o.live == o.recover {
		return usageError(errWhichRestore)
	}
	if o.recover {
		return runRecover(cmd, o.recoverPart, o.livePart, p, o.output)
	}
	return runLive(cmd, o.flags, o.livePart, p, o.output)
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
