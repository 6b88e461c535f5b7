package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
)

// How long a follower puts up with what a restore brings with it.
const (
	// missingLimit is for the operation, which the rewind deletes and the controller
	// creates again, once an API server answers.
	missingLimit = 15 * time.Minute
	// silenceLimit is for all API servers: a restore has 60 minutes to bring one back.
	silenceLimit = 75 * time.Minute
	// askEvery is the pause after an answer; after none it grows to askAtMost.
	askEvery, askAtMost = 2 * time.Second, 15 * time.Second
)

// follower shows an operation until it ends.
type follower struct {
	servers []apiServer
	// op is the operation as it was seen last.
	op *v1alpha1.TalosOperation
	// recover is the command that goes on without an API.
	recover  string
	progress *operationProgress
	now      func() time.Time
	wait     func(ctx context.Context, d time.Duration) error

	at    int
	pause time.Duration
	// since when nobody answers, the operation is missing, nobody lets it be read; zero if not
	silent, gone, refused time.Time
}

var (
	errUnresumed = errors.New("nobody has resumed the restore")
	errSilence   = errors.New("no API server answers")
)

// follow gives the operation as it was when it went on by itself no more.
func (f *follower) follow(ctx context.Context) (*v1alpha1.TalosOperation, error) {
	defer f.progress.end()
	name := types.NamespacedName{Namespace: f.op.Namespace, Name: f.op.Name}
	for {
		op, err := f.servers[f.at].get(ctx, name)
		if ctx.Err() == nil {
			if err = f.heard(op, err); err != nil || over(f.op) {
				return f.op, err
			}
			err = f.wait(ctx, f.pause)
		}
		if ctx.Err() != nil || err != nil {
			return nil, fmt.Errorf("stop following operation %s, which goes on: %w", f.op.Name, errors.Join(ctx.Err(), err))
		}
	}
}

// heard takes one answer in, or its absence. It fails when that has lasted too long.
func (f *follower) heard(op *v1alpha1.TalosOperation, err error) error {
	switch {
	case err == nil:
		f.answered()
		f.gone, f.refused, f.op = time.Time{}, time.Time{}, op
		f.progress.show(op, "")
		return nil
	case apierrors.IsNotFound(err):
		f.answered()
		f.refused = time.Time{}
		return f.missing()
	case refusal(err, f.op.Name) != "":
		f.answered()
		return f.denied(err)
	}
	return f.unanswered(err)
}

func (f *follower) answered() {
	if !f.silent.IsZero() {
		f.say("API server %s answered", f.servers[f.at].url)
	}
	f.silent, f.pause = time.Time{}, askEvery
}

// say prints a line that stays.
func (f *follower) say(format string, args ...any) {
	f.progress.end()
	fmt.Fprintf(f.progress.w, format+"\n", args...)
}

// missing puts up with an operation that the rewind took.
func (f *follower) missing() error {
	if f.gone.IsZero() {
		f.gone = f.now()
	}
	if f.now().Sub(f.gone) >= missingLimit {
		return fmt.Errorf("%w: the API answers, and has had no operation %s for %s. See what the manager says (kubectl -n quorate-system logs deploy/quorate-manager); what it cannot finish, this does: %s", errUnresumed, f.op.Name, missingLimit, f.recover)
	}
	f.progress.show(f.op, "waiting for the restore to resume")
	return nil
}

// denied puts up for a while with an answer that is no silence: credentials that are not
// taken, or a caller who may not read.
func (f *follower) denied(err error) error {
	f.gone = time.Time{}
	if f.refused.IsZero() {
		f.refused = f.now()
		f.say("API server %s answers, and %s", f.servers[f.at].url, refusal(err, f.op.Name))
	}
	if f.now().Sub(f.refused) >= refusedLimit {
		return refusedError("API server "+f.servers[f.at].url, f.op.Name, err)
	}
	return nil
}

// unanswered goes on to the next API server. What none says is not that the operation is
// missing.
func (f *follower) unanswered(err error) error {
	f.gone = time.Time{}
	if f.silent.IsZero() {
		f.silent = f.now()
		f.say("API server %s does not answer: %s", f.servers[f.at].url, oneLine(err.Error()))
	}
	if f.now().Sub(f.silent) >= silenceLimit {
		return fmt.Errorf("%w since %s (%w). Go on without one: %s", errSilence, f.silent.UTC().Format(time.RFC3339), err, f.recover)
	}
	f.at = (f.at + 1) % len(f.servers)
	if f.at == 0 { // each was tried once more
		f.pause = min(max(2*f.pause, askEvery), askAtMost)
	}
	f.say("trying API server %s", f.servers[f.at].url)
	return nil
}
