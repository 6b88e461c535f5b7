package restore

import "github.com/quorate/quorate/api/v1alpha1"

// way is what a look at an operation comes to.
type way string

const (
	// wayOver: nothing is to be done any more.
	wayOver way = "over"
	// wayHeld: a rewind brought it back, and no person has released it.
	wayHeld way = "held"
	// wayRelease: a person has.
	wayRelease way = "release"
	// wayPrepare: nothing is done yet.
	wayPrepare way = "prepare"
	// wayStuck: it was paused before anything was changed, and stays so.
	wayStuck way = "stuck"
	// wayJob: the job of the marker is at work, or has to be.
	wayJob way = "job"
	// wayPaused: the marker says why it has given up.
	wayPaused way = "paused"
	// wayRetry: a person has it go on.
	wayRetry way = "retry"
	// wayTail: etcd is complete, and what is left needs Kubernetes.
	wayTail way = "tail"
	// wayComplete: the marker is gone as the end has it; only the status is left.
	wayComplete way = "complete"
	// wayAstray: the marker is gone before its time.
	wayAstray way = "astray"
	// wayBehind: it was there before the restore that is on its way, which holds it at
	// its end.
	wayBehind way = "behind"
	// wayUnknown: the store has to answer first.
	wayUnknown way = "unknown"
	// wayRefuse: it is deleted, and cannot be while etcd is away.
	wayRefuse way = "refuse"
	// wayForget: it is deleted, and marker and copy go before it.
	wayForget way = "forget"
	// wayDrop: it is deleted, and nothing is left of it.
	wayDrop way = "drop"
)

// markerState is what the store has.
type markerState string

const (
	markerUnknown markerState = "unknown" // no answer, or nobody to ask
	markerNone    markerState = "none"
	markerOurs    markerState = "ours"
	markerOther   markerState = "other" // of another restore, or of a newer Quorate
)

// facts are what decides.
type facts struct {
	phase    v1alpha1.OperationPhase
	step     v1alpha1.RestoreStep
	deleted  bool
	released bool
	marker   markerState
	// failed, done and at are the marker's, if it is ours.
	failed, done bool
	at           v1alpha1.RestoreStep
	// older: it is older than the other restore whose marker there is.
	older bool
	// unreachable: the backup or its settings are gone, so that no store will answer.
	unreachable bool
}

// choose decides what an operation needs. What the status says is of before a rewind
// perhaps; where the marker is ours, it alone tells how far the restore is.
func choose(f facts) way {
	switch {
	case f.deleted:
		return f.deletion()
	case f.marker == markerOurs:
		return f.ours()
	case f.phase == v1alpha1.PhaseCompleted:
		return wayOver
	case f.phase == v1alpha1.PhaseHeld && f.released:
		return wayRelease
	case f.phase == v1alpha1.PhaseHeld:
		return wayHeld
	}
	return f.without()
}

func (f facts) ours() way {
	switch {
	case f.failed && f.released:
		return wayRetry
	case f.failed:
		return wayPaused
	case f.done:
		return wayTail
	}
	return wayJob
}

func (f facts) without() way {
	switch {
	case f.phase == v1alpha1.PhasePaused && f.step == "":
		return wayStuck
	case f.marker == markerOther && f.older:
		return wayBehind
	case f.marker == markerUnknown && !(f.unreachable && f.step == ""):
		return wayUnknown
	case f.step == "":
		return wayPrepare
	case f.step == v1alpha1.StepReconciling && f.marker == markerNone:
		return wayComplete
	}
	return wayAstray
}

// deletion never leaves a marker behind that would bring the operation back.
func (f facts) deletion() way {
	switch {
	case f.marker == markerUnknown && f.step != "" && !f.unreachable:
		return wayUnknown
	case f.marker != markerOurs:
		return wayDrop
	case f.failed, f.done, f.at == v1alpha1.StepRejoining, f.at == v1alpha1.StepReconciling:
		return wayForget
	}
	return wayRefuse
}
