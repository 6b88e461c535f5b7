package restore

import (
	"context"
	"io"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// Limits are how long things may take; 0 is the default.
type Limits struct {
	restoring.Limits
	// Hold is how long an owner is one without renewing it (15m), Margin how long
	// before its end it stops acting: clocks may differ by as much (a fifth of it).
	Hold, Margin time.Duration
	// Poll is the time between two looks once etcd is recovered (3s); until then, while no
	// API answers, it is a sixth of that. Note is the time between two notes that are saved
	// in the store (5s).
	Poll, Note time.Duration
}

// Job wipes, recovers and completes etcd, from a marker. It needs no Kubernetes.
type Job struct {
	Nodes Nodes
	Etcd  Etcd
	// Store is nil if there is none to be had, and then the folder alone is trusted.
	Store Store
	// Desk is the folder; nil without one.
	Desk Desk
	// Decrypt opens the pinned ciphertext.
	Decrypt func(io.Reader) (io.Reader, error)
	Clock   clock.PassiveClock
	// Identity is that of the process if the folder has none to give.
	Identity string
	// Here is the machine that this process runs on, if it is a control plane of the
	// cluster; empty if not.
	Here string
	// Ordered: a person has this process take the restore over at once, whoever owns
	// it, and a failure be forgotten.
	Ordered bool
	// Without are machines to leave out from here on, if it is Ordered.
	Without []string
	Log     logr.Logger
	Limits  Limits
	// Report is told each change of what is done or waited for. It must not block.
	Report func(Progress)
}

// Progress is what is done or waited for.
type Progress struct {
	At   time.Time
	Step v1alpha1.RestoreStep
	Note string
	// ExtraWipes are the wipes beyond the first of each node, so far.
	ExtraWipes int
}

// Outcome is how a job ended.
type Outcome string

const (
	// Done: etcd is recovered and complete.
	Done Outcome = "Done"
	// Paused: a final failure; a person has to act.
	Paused Outcome = "Paused"
	// Lost: another process owns the restore, or it is over.
	Lost Outcome = "Lost"
)

// Result is how a job ended, with the marker as it was last known.
type Result struct {
	Outcome Outcome
	Marker  Marker
	// Why says what happened, with the way out; empty if Done.
	Why string
	// Retry is when another process's ownership ends, if Lost to one.
	Retry time.Time
}

// Run works until the job is done, fails for good, or is another's. The error is the
// context's, or says why the restore could not be begun: ErrNoMarker, ErrNewerMarker
// or ErrMarker. A panic is a final failure.
func (j *Job) Run(ctx context.Context) (Result, error) { return j.run(ctx) }
