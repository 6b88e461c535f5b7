package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quorate/quorate/internal/store"
)

// hold is the marker with its owner: this process, as long as nobody took it over and
// its time is not up by the local clock.
type hold struct {
	job     *Job
	marker  *Marker
	version store.Version
	// behind tells that the store has not the marker as it is here, or that it is not
	// known whether it has.
	behind  bool
	savedAt time.Time
	// saved is what was saved last.
	saved string
	// yielded is until when the hold is not renewed: this process is to end.
	yielded time.Time
	// away is until when a store that did not answer is not asked in vain, awayWhy its
	// words.
	away    time.Time
	awayWhy error
}

// errWait: nothing may be done before the store answers.
var errWait = errors.New("nothing is done before the object store answers")

// held tells whether this process may act by the local clock alone.
func (h *hold) held() bool {
	return h.job.Clock.Now().Before(h.marker.Owner.Expires.Add(-h.job.Limits.Margin))
}

// renew makes the hold longer after a third of it, and tells whether it did. A store
// that is away is no error until the time is nearly up.
func (h *hold) renew(ctx context.Context) (longer bool, err error) {
	now := h.job.Clock.Now()
	left := h.marker.Owner.Expires.Sub(now)
	if h.job.Store == nil {
		h.marker.Owner.Expires = now.Add(h.job.Limits.Hold)
		return false, nil
	}
	if left > h.job.Limits.Hold*2/3 || now.Before(h.yielded) || h.held() && now.Before(h.away) {
		return false, nil
	}
	until := h.marker.Owner.Expires
	h.marker.Owner.Expires = now.Add(h.job.Limits.Hold)
	if err = h.push(ctx); err == nil {
		return true, nil
	}
	h.marker.Owner.Expires = until
	switch {
	case errors.Is(err, errLost):
		return false, err
	case h.held():
		return false, nil
	}
	return false, fmt.Errorf("%w, as this process's hold of the restore is over at %s: %w", errWait, clockTime(until), err)
}

// lasts has the hold last as long as an act may take that must not be cut.
func (h *hold) lasts(ctx context.Context, needs time.Duration) error {
	now, until := h.job.Clock.Now(), h.marker.Owner.Expires
	if h.job.Store == nil || until.Sub(now) >= needs {
		return nil
	}
	h.marker.Owner.Expires = now.Add(needs)
	if err := h.push(ctx); err != nil {
		h.marker.Owner.Expires = until
		if errors.Is(err, errLost) {
			return err
		}
		return fmt.Errorf("%w, as what is next may take %s: %w", errWait, needs, err)
	}
	return nil
}

// check is asked before each act that destroys: is the restore still this process's?
// The store says so, or the clock where the store is away.
func (h *hold) check(ctx context.Context) error {
	if h.job.Store != nil && !h.job.Clock.Now().Before(h.away) {
		is, version, err := h.load(ctx)
		switch {
		case err == nil && !h.mine(is):
			return lostTo(is)
		case err == nil:
			h.know(is, version)
		case errors.Is(err, ErrNoMarker), errors.Is(err, ErrNewerMarker), errors.Is(err, ErrMarker):
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
	if !h.held() {
		return fmt.Errorf("%w, as this process's hold of the restore is over at %s", errWait, clockTime(h.marker.Owner.Expires))
	}
	return nil
}

// yield gives the hold up for the process that comes after this one, which is about to
// end with its node. If it does not end, it renews the hold after a while.
func (h *hold) yield() {
	now := h.job.Clock.Now()
	h.yielded = now.Add(2 * yieldFor)
	h.marker.Owner.Expires = now.Add(yieldFor)
}

func (h *hold) mine(is *Marker) bool {
	return is.Owner.Identity == h.marker.Owner.Identity && is.Fence == h.marker.Fence
}

// know takes the version of what the store has of this very owner.
func (h *hold) know(is *Marker, version store.Version) {
	h.version = version
	h.behind = is.Sequence != h.marker.Sequence
}

func lostTo(is *Marker) error {
	return fmt.Errorf("%w: %s has it since takeover %d, until %s", errLost, is.Owner.Identity, is.Fence, clockTime(is.Owner.Expires))
}

func (h *hold) load(ctx context.Context) (*Marker, store.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, callStore)
	defer cancel()
	m, version, err := Markers{h.job.Store}.Load(ctx)
	h.heard(err)
	return m, version, err
}

// heard keeps whether the store answers.
func (h *hold) heard(err error) {
	h.awayWhy = nil
	if err == nil || errors.Is(err, ErrNoMarker) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrNotFound) {
		h.away = time.Time{}
		return
	}
	h.away, h.awayWhy = h.job.Clock.Now().Add(awayStore), err
}

// push writes the marker to the store. The answer to an earlier write may have been
// lost, so that a version that is not the expected one is looked into.
func (h *hold) push(ctx context.Context) error {
	h.marker.Sequence++
	h.behind = true
	err := h.put(ctx)
	if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrNotFound) {
		is, version, loadErr := h.load(ctx)
		switch {
		case errors.Is(loadErr, ErrNoMarker):
			return fmt.Errorf("%w: %w", errLost, loadErr)
		case loadErr != nil:
			return loadErr
		case !h.mine(is):
			return lostTo(is)
		}
		h.version = version
		err = h.put(ctx)
	}
	return err
}

func (h *hold) put(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callStore)
	defer cancel()
	version, err := Markers{h.job.Store}.put(ctx, h.marker, h.version)
	h.heard(err)
	if err == nil {
		h.version, h.behind, h.savedAt = version, false, h.job.Clock.Now()
	}
	return err
}

func clockTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }
