package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/quorate/quorate/api/v1alpha1"
)

const (
	// watchEvery is the time between two looks, watchTimeout what one may take.
	watchEvery   = 2 * time.Second
	watchTimeout = 10 * time.Second
	// watchGone is for how long the API server may answer that there is no operation: a
	// restore's rewind takes it, and its controller makes it anew.
	watchGone = 15 * time.Minute
	// watchAway is for how long the API server may be away: a restore takes it too.
	watchAway = 150 * time.Minute
)

const watchHelp = `Follow an operation to its end.

A restore takes the Kubernetes API away, and then the operation itself until its
controller has made it anew: both are waited for. Progress goes to standard error,
redrawn in place on a terminal; the operation as it ended goes to standard output.

Exit codes: 0 completed, 1 paused, held, gone or failed, 2 usage.`

func newOperationWatchCommand(o *operationOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow an operation to its end",
		Long:  watchHelp,
		Example: `  quorate operation watch rewind -n factory
  quorate operation watch rewind -o json 2>/dev/null | jq .status`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: o.complete(false),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.watch(cmd, args[0]) },
	}
	addOutputFlag(cmd, &o.output, listFormats)
	o.addFlags(cmd)
	return cmd
}

var (
	errPaused    = errors.New("the operation is paused")
	errHeld      = errors.New("the operation is held")
	errOperation = errors.New("the operation is gone")
	errAway      = errors.New("the API server is away")
)

func (o *operationOptions) watch(cmd *cobra.Command, arg string) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	op, err := o.operationOf(cmd.Context(), namespace, arg) // a name that is wrong is told at once
	if err != nil {
		return err
	}
	p := newOperationProgress(cmd.ErrOrStderr(), o.now)
	op, err = o.follow(cmd.Context(), op, p)
	p.end()
	if err != nil {
		return err
	}
	if err := printOperation(cmd.OutOrStdout(), op, o.output, o.now()); err != nil {
		return err
	}
	return ending(op)
}

// follow looks until the operation goes on by itself no more. It ends with the context
// too.
func (o *operationOptions) follow(ctx context.Context, op *v1alpha1.TalosOperation, p *operationProgress) (*v1alpha1.TalosOperation, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var missed absence
	for {
		if over(op) {
			p.show(op, "")
			return op, nil
		}
		p.show(op, "")
		for seen := false; !seen; {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-tick.C:
			}
			next, err := o.look(ctx, op)
			switch {
			case err == nil:
				op, seen, missed = next, true, absence{}
			case !missed.tooLong(err, o.now()):
				p.show(op, waitingFor(err, op.Name))
			case refusal(err, op.Name) != "":
				return nil, refusedError("the API server", op.Name, err)
			default:
				return nil, err
			}
		}
	}
}

// look reads the operation once more.
func (o *operationOptions) look(ctx context.Context, op *v1alpha1.TalosOperation) (*v1alpha1.TalosOperation, error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	next, err := o.operationOf(ctx, op.Namespace, op.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: %w", errOperation, err)
	case refusal(err, op.Name) != "":
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	return next, nil
}

// absence is since when the operation is not there, by what the API server answers, since
// when that does not answer, and since when it lets nobody read; zero if not. One ends the
// other: while nobody answers, nobody can make the operation anew.
type absence struct{ gone, away, refused time.Time }

// tooLong takes in one look that gave no operation, and tells whether nobody need wait
// any more.
func (a *absence) tooLong(err error, now time.Time) bool {
	before := *a
	*a = absence{}
	since, was, limit := &a.away, before.away, watchAway
	switch {
	case refusal(err, "") != "":
		since, was, limit = &a.refused, before.refused, refusedLimit
	case errors.Is(err, errOperation):
		since, was, limit = &a.gone, before.gone, watchGone
	}
	*since = was
	if since.IsZero() {
		*since = now
	}
	return now.Sub(*since) >= limit
}

func waitingFor(err error, operation string) string {
	if text := refusal(err, operation); text != "" {
		return "The API server answers, and " + text
	}
	if errors.Is(err, errOperation) {
		return "The operation is not there: a restore's rewind takes it, and its controller makes it anew. It is waited for."
	}
	return "The API server does not answer, as during a restore; it is asked again: " + oneLine(err.Error())
}

// over tells whether it goes on by itself no more.
func over(op *v1alpha1.TalosOperation) bool {
	switch op.Status.Phase {
	case v1alpha1.PhaseCompleted, v1alpha1.PhasePaused, v1alpha1.PhaseHeld:
		return true
	}
	return false
}

// ending is the error of an end that is no success.
func ending(op *v1alpha1.TalosOperation) error {
	switch op.Status.Phase {
	case v1alpha1.PhasePaused:
		return &exitError{exitFailed, fmt.Errorf("%w: %s", errPaused, op.Status.FailureReason)}
	case v1alpha1.PhaseHeld:
		return &exitError{exitFailed, fmt.Errorf("%w by a restore: see what it would do, and release it with quorate operation release %s -n %s", errHeld, op.Name, op.Namespace)}
	}
	return nil
}
