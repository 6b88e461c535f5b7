package restore

import (
	"cmp"
	"time"
)

// DefaultHold is how long an owner is one without renewing it.
const DefaultHold = 15 * time.Minute

func (l Limits) filled() Limits {
	l.Limits = l.Limits.Filled()
	l.Hold = cmp.Or(l.Hold, DefaultHold)
	l.Margin = cmp.Or(l.Margin, l.Hold/5)
	l.Poll, l.Note = cmp.Or(l.Poll, 3*time.Second), cmp.Or(l.Note, 5*time.Second)
	return l
}

const (
	// callStore bounds a call of the store for the marker, whose client has bounds of its
	// own as well.
	callStore = 10 * time.Second
	// awayStore is how long a store that did not answer is not asked again by what can
	// do without it.
	awayStore = 15 * time.Second
	// yieldFor is how long a hold lasts that is given up.
	yieldFor = time.Minute
	// leaveSlack is how much longer than a leave the hold lasts.
	leaveSlack = time.Minute
	// lookLimit bounds one look at all nodes.
	lookLimit = time.Minute
	// hurry is how much more often nodes are looked at while no API answers.
	hurry = 6
	// maxPause is the longest pause after acts that failed.
	maxPause = 30 * time.Second
	// tellLimit is how long the end of the job waits for a store that is away.
	tellLimit = 10 * time.Minute
)
