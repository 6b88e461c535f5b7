package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

const releaseHelp = `Let go what a restore holds, after saying what will run then.

An operation is released by its name, a machine and an Etcd by kind and name. What
runs after that may not be undone; nothing runs before.

Exit codes: 0 released, 1 not held, refused or failed, 2 usage.`

func newOperationReleaseCommand(o *operationOptions) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "release [KIND/]NAME",
		Short: "Let an operation, a machine or an Etcd that a restore holds go on",
		Long:  releaseHelp,
		Example: `  quorate operation release rewind
  quorate operation release talosmachine/cp-3 -n factory
  quorate operation release etcd/orders --yes`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: o.complete(true),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.release(cmd, args[0], yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "release it without being asked")
	o.addFlags(cmd)
	return cmd
}

var (
	errNotHeld  = errors.New("no restore holds it, so there is nothing to release")
	errReleased = errors.New("it was released before, and its controller has not followed yet")
	errKept     = errors.New("nothing was released")
)

func (o *operationOptions) release(cmd *cobra.Command, arg string, yes bool) error {
	s, err := subjectOf(arg)
	if err != nil {
		return err
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	found, err := o.read(cmd.Context(), namespace, s)
	if err != nil {
		return err
	}
	before := found.DeepCopyObject().(client.Object)
	if err := releasable(found); err != nil {
		return fmt.Errorf("%s in %s: %w", s, namespace, err)
	}
	number, _ := epoch.Held(before)
	fmt.Fprintf(cmd.ErrOrStderr(), "Restore %s holds %s in %s. Once it is released: %s\n", number, s, namespace, afterwards(before))
	if !yes && !agrees(cmd.InOrStdin(), cmd.ErrOrStderr(), "Release it?") {
		return errKept
	}
	if err := o.write(cmd.Context(), before, found); err != nil {
		return fmt.Errorf("release %s in %s: %w", s, namespace, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s released\n", s)
	return nil
}

// releasable releases the object in memory, or says why there is nothing to release.
func releasable(found client.Object) error {
	if op, is := found.(*v1alpha1.TalosOperation); is && epoch.Released(op) {
		return errReleased
	}
	if !epoch.Release(found) {
		return errNotHeld
	}
	return nil
}

// write sends the change on condition that nobody has written the object since it was
// shown.
func (o *operationOptions) write(ctx context.Context, before, after client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return o.client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// agrees asks a question whose answer is no unless it is said to be yes.
func agrees(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		fmt.Fprintln(out) // nobody ended the line
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}
