package backup

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// horizon is how far a schedule is followed: one whose next time is further off has none,
// such as the 30th of February.
const horizon = 5 * 366 * 24 * time.Hour

// next is when the snapshot after that of a time is due, in UTC.
func next(schedule string, after time.Time) (time.Time, error) {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + schedule)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec.schedule %q is no schedule: %w", schedule, err)
	}
	at := s.Next(after.UTC())
	if at.IsZero() || at.Sub(after) > horizon {
		return time.Time{}, fmt.Errorf("spec.schedule %q never comes", schedule)
	}
	return at, nil
}

// firstPause is the wait after an attempt that failed; it doubles up to lastPause.
const (
	firstPause = time.Minute
	lastPause  = time.Hour
)

// patience is how often in a row no snapshot could be taken, and since when.
type patience struct {
	failures int
	last     time.Time
}

// until is when the next attempt may be made.
func (p patience) until() time.Time {
	if p.failures == 0 {
		return time.Time{}
	}
	return p.last.Add(min(firstPause<<min(p.failures-1, 6), lastPause))
}
