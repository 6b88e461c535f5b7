package restore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/utils/clock"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// errLost: the restore is another process's, or over.
var errLost = errors.New("the restore is not this process's any more")

// run is one run of a job.
type run struct {
	*Job
	hold
	// begun is set once the marker is known.
	begun    bool
	identity string
	// source says where the snapshot that was verified is.
	source source
	// refusals count answers without a code in a row.
	refusals map[restoring.Kind]int
	pause    time.Duration
	told     string
}

func (j *Job) run(ctx context.Context) (Result, error) {
	job := *j
	if job.Clock == nil {
		job.Clock = clock.RealClock{}
	}
	job.Limits = j.Limits.filled()
	r := &run{Job: &job, pause: job.Limits.Poll, refusals: map[restoring.Kind]int{}}
	r.hold = hold{job: &job}
	return r.guarded(ctx)
}

// guarded turns a panic into a final failure.
func (r *run) guarded(ctx context.Context) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error(fmt.Errorf("%v", p), "the job of the restore panicked", "stack", string(debug.Stack()))
			result, err = r.panicked(ctx, p)
		}
	}()
	if result, err := r.begin(ctx); err != nil || result.Outcome != "" {
		return result, err
	}
	r.begun = true
	return r.loop(ctx)
}

func (r *run) panicked(ctx context.Context, p any) (result Result, err error) {
	if !r.begun {
		return Result{}, fmt.Errorf("begin the job of the restore: it panicked: %v", p)
	}
	defer func() { // the folder or the store may be what panics
		if again := recover(); again != nil {
			result, err = r.result(Paused, r.marker.Failure), nil
		}
	}()
	r.marker.Failure = failure(r.marker, fmt.Sprintf("The job of the restore panicked: %v.", p))
	return r.end(ctx)
}

func (r *run) loop(ctx context.Context) (Result, error) {
	for {
		err := r.pass(ctx)
		switch {
		case errors.Is(err, errLost):
			return r.result(Lost, err.Error()), nil
		case ctx.Err() != nil:
			return r.result("", ""), ctx.Err()
		case r.marker.Failure != "" || r.marker.JobDone:
			return r.end(ctx)
		}
		if err := sleep(ctx, r.pause); err != nil {
			return r.result("", ""), err
		}
	}
}

// pass is one look, one decision, and its acts.
func (r *run) pass(ctx context.Context) error {
	if err := r.ready(ctx); err != nil {
		return r.waits(err)
	}
	decision, err := r.settle(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.waits(err)
	}
	before := r.marker.state()
	r.marker.adopt(decision.State)
	r.marker.Failure = failure(r.marker, decision.State.Failure)
	r.tell(decision.Note)
	must := len(decision.Acts) > 0 || decision.State.Step != before.Step || r.marker.Failure != "" || r.marker.JobDone
	if err := r.save(ctx, must); err != nil {
		r.marker.adopt(before)
		return r.waits(err)
	}
	return r.carryOut(ctx, before, decision)
}

// ready keeps the hold, and the snapshot at hand as long as it may be needed.
func (r *run) ready(ctx context.Context) error {
	longer, err := r.renew(ctx)
	if err != nil {
		return err
	}
	if longer {
		r.keepFolder()
	}
	return nil
}

// settle decides, and looks again where the decision needs it, or where the snapshot had
// to be brought here first.
func (r *run) settle(ctx context.Context) (restoring.Decision, error) {
	decision := r.decide(ctx)
	if wants(decision) && r.source == nowhere {
		if err := r.stage(ctx); err != nil {
			return decision, err
		}
		decision = r.decide(ctx)
	}
	if decision.Confirm {
		if again := r.decide(ctx); !again.Confirm {
			decision = again
		}
	}
	return decision, nil
}

func (r *run) decide(ctx context.Context) restoring.Decision {
	seen := r.look(ctx)
	return restoring.Next(r.marker.state(), seen, r.Clock.Now(), r.Limits.Limits)
}

// waits keeps what stands in the way as the note, within the limits; only a lost hold is
// an error.
func (r *run) waits(err error) error {
	if errors.Is(err, errLost) {
		return err
	}
	what := restoring.Overdue(r.marker.state(), err.Error(), r.Clock.Now(), r.Limits.Limits)
	if errors.Is(err, errDamaged) {
		what = err.Error()
	}
	r.marker.Failure = failure(r.marker, what)
	r.tell(err.Error())
	r.slower()
	return nil
}

func (r *run) slower() { r.pause = min(max(2*r.pause, r.Limits.Poll), maxPause) }

// usual is the pause between two looks where all goes well.
func (r *run) usual() time.Duration {
	if r.marker.Step == v1alpha1.StepRejoining {
		return r.Limits.Poll
	}
	return r.Limits.Poll / hurry
}

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
