package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

const releaseHelp = `Let go what a restore holds, or an operation that is paused, after saying what will
run then.

An operation is released by its name, a machine and an Etcd by kind and name. What
runs after that may not be undone; nothing runs before.

Exit codes: 0 released, 1 neither held nor paused, refused or failed, 2 usage.`

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
	errNotHeld  = errors.New("no restore holds it, nor is it paused, so there is nothing to release")
	errUnbegun  = errors.New("it was paused before it changed anything, and does not go on. Delete it, and order it again once what it names is mended")
	errReleased = errors.New("it was released before, and its controller has not followed yet")
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
	fmt.Fprintf(cmd.ErrOrStderr(), "%s Once it is released: %s\n", waitsFor(before, s), afterwards(before))
	if !yes {
		if err := newPerson(cmd.InOrStdin(), cmd.ErrOrStderr()).agree("Release it?"); err != nil {
			return err
		}
	}
	if err := o.write(cmd.Context(), before, found); err != nil {
		return fmt.Errorf("release %s in %s: %w", s, namespace, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s released\n", s)
	return nil
}

// waitsFor says what keeps an object from going on.
func waitsFor(o client.Object, s subject) string {
	if number, held := epoch.Held(o); held {
		return fmt.Sprintf("Restore %s holds %s in %s.", number, s, o.GetNamespace())
	}
	return fmt.Sprintf("%s in %s is paused: %s", s, o.GetNamespace(), oneLine(messageOf(o.(*v1alpha1.TalosOperation))))
}

// releasable releases the object in memory, or says why there is nothing to release.
func releasable(found client.Object) error {
	op, is := found.(*v1alpha1.TalosOperation)
	switch {
	case is && epoch.Released(op):
		return errReleased
	case is && op.Status.Phase == v1alpha1.PhasePaused && stepOf(op) == "":
		return errUnbegun
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
