package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/quorate/quorate/internal/store"
)

// begin finds the marker and makes this process its owner. The folder is asked before
// anything else: a container that was killed goes on though the store is away.
func (r *run) begin(ctx context.Context) (Result, error) {
	local, err := r.openDesk()
	if err != nil {
		return Result{}, err
	}
	for {
		result, err := r.own(ctx, local)
		if !errors.Is(err, errAgain) || local == nil && errors.Is(err, errAway) {
			return result, err
		}
		r.Log.Info("the restore waits for the object store", "why", err.Error())
		if r.Report != nil && local != nil {
			r.Report(Progress{r.Clock.Now(), local.Step, err.Error(), local.ExtraWipes})
		}
		r.slower()
		if err := sleep(ctx, r.pause); err != nil {
			return Result{}, err
		}
	}
}

var (
	// errAgain: another try may help.
	errAgain = errors.New("it is not known whose the restore is")
	// errAway: for as long as the store is away.
	errAway = errors.New("the object store does not answer")
)

// openDesk reads identity and marker of the folder. What is damaged there is passed
// over, as the store has the marker too; a newer marker is left alone.
func (r *run) openDesk() (*Marker, error) {
	r.identity = r.Identity
	if r.Desk == nil {
		return nil, nil
	}
	if id, err := r.Desk.Identity(); err == nil {
		r.identity = id
	} else {
		r.Log.Error(err, "the restore's folder cannot be used", "identity", r.identity)
	}
	m, err := r.Desk.Marker()
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, ErrNewerMarker):
		return nil, err
	case !errors.Is(err, ErrNoMarker):
		r.Log.Error(err, "the marker in the restore's folder is passed over")
	}
	return nil, nil
}

// own makes this process the owner. The error is errAgain where the store did not
// answer.
func (r *run) own(ctx context.Context, local *Marker) (Result, error) {
	if r.Store == nil {
		if local == nil {
			return Result{}, ErrNoMarker
		}
		return r.enter(local)
	}
	is, version, err := r.load(ctx)
	switch {
	case errors.Is(err, ErrNoMarker) && local != nil:
		return Result{Outcome: Lost, Marker: *local, Why: "The restore is over: " + err.Error() + " in the object store any more."}, nil
	case errors.Is(err, ErrNoMarker), errors.Is(err, ErrNewerMarker), errors.Is(err, ErrMarker), ctx.Err() != nil:
		return Result{}, errors.Join(err, ctx.Err())
	case err != nil:
		return r.alone(local, err)
	}
	m := is
	if is.Owner.Identity == r.identity {
		if local != nil && local.Fence == is.Fence && local.Owner.Identity == r.identity && local.Sequence > is.Sequence {
			m = local
		}
	} else if now := r.Clock.Now(); !r.Ordered && now.Before(is.Owner.Expires) {
		return Result{Outcome: Lost, Marker: *is, Why: lostTo(is).Error(), Retry: is.Owner.Expires}, nil
	} else {
		r.takeOver(m)
	}
	return r.claim(ctx, m, is.Sequence, version)
}

// alone goes on without the store while the hold of before lasts.
func (r *run) alone(local *Marker, err error) (Result, error) {
	if local != nil && local.Owner.Identity == r.identity {
		r.marker = local
		if r.held() && !r.Ordered {
			r.behind = true
			return r.enter(local)
		}
	}
	return Result{}, fmt.Errorf("%w: %w: %w", errAgain, errAway, err)
}

func (r *run) takeOver(m *Marker) {
	why := "its hold was over"
	if r.Ordered {
		why = "a person ordered it"
	}
	m.TakenOver = fmt.Sprintf("%s took it over from %s at %s, as %s", r.identity, m.Owner.Identity, clockTime(r.Clock.Now()), why)
	m.Fence++
	m.Owner.Identity = r.identity
	if now := r.Clock.Now(); m.AgentsSince != nil && !m.JobDone {
		m.AgentsSince = &now // this process gets its time for them too
	}
	m.adopt(m.state().Rehome(r.Here))
}

// claim writes the owner.
func (r *run) claim(ctx context.Context, m *Marker, sequence int64, version store.Version) (Result, error) {
	if r.Ordered {
		if err := m.LeaveOut(r.Without, r.Clock.Now()); err != nil {
			return Result{}, err
		}
		m.Failure, m.TargetWipes, m.LimitsFrom = "", 0, r.Clock.Now()
		m.JobDone = false
	}
	m.Owner.Expires = r.Clock.Now().Add(r.Limits.Hold)
	m.Sequence = max(m.Sequence, sequence)
	r.marker, r.version = m, version
	m.Sequence++
	if err := r.put(ctx); errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrNotFound) {
		return Result{}, fmt.Errorf("%w: somebody else wrote the marker at the same moment: %w", errAgain, err)
	} else if err != nil {
		return Result{}, fmt.Errorf("%w: %w: %w", errAgain, errAway, err)
	}
	r.Ordered = false
	r.keepFolder()
	return r.enter(m)
}

func (r *run) enter(m *Marker) (Result, error) {
	r.marker, r.begun = m, true
	if m.Failure != "" {
		return r.result(Paused, m.Failure), nil
	}
	if m.JobDone {
		return r.result(Done, ""), nil
	}
	return Result{}, nil
}
