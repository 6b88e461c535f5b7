// Command quorate-guard runs beside an etcd member: it decides how the member may
// start, promotes it, and answers its readiness probe. It never removes a member.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/internal/agent"
)

const rootHelp = `Beside an etcd member: decide how it may start, promote it, say whether it serves.
A member that was removed is never let back in; none is ever removed.

Exit codes:
   0  the member may start
   1  something failed
   2  the command line or the configuration cannot be used; nothing was touched
  10  ErrMemberPermanentlyRemoved: the disk is that of a removed member
  11  ErrMembershipCheckFailed: whether it was removed cannot be told
  12  ErrOtherCluster: another cluster than this member's
  13  ErrCopiedVolume: the disk's member is alive under another name
  14  ErrDiskLost: the cluster counts on a member whose log is gone
  15  ErrBeyondReplicas: the ordinal does not belong, and the disk is empty
  20  ErrWaited: what it waits for has not come about; try again
After 10 to 15 the same start fails again until somebody acts: the reason says who.
What may pass by itself, such as a silent cluster, is looked at again for --patience
before it is final.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usage marks a command line that cannot be used.
func usage(err error) error { return fmt.Errorf("%w: %w", errUsage, err) }

var errUsage = errors.New("usage")

// run executes one command line and gives the exit code. The last line on stderr
// is the reason.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, errUsage) {
		fmt.Fprintf(stderr, "quorate-guard: %v\n", err)
		return agent.ExitUsage
	}
	if err != nil {
		fmt.Fprintln(stderr, agent.Reason(err))
	}
	return agent.Code(err)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "quorate-guard",
		Short:         "Decide how an etcd member may start, and stay beside it",
		Long:          rootHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newPrepareCommand(), newServeCommand(), newCheckCommand())
	return root
}

func noArgs(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return usage(err)
	}
	return nil
}
