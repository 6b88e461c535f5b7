package guard

import "slices"

// Outcome is what becomes of a recorded operation, by the world as it is now.
type Outcome string

// The outcomes.
const (
	// Proceed: the world still asks for it.
	Proceed Outcome = "proceed"
	// Finish: nothing is left to do, or what was asked for was taken back before
	// anything was done. Nothing is removed; the operation ends.
	Finish Outcome = "finish"
	// Recompute: the world asks for the opposite. Nothing is removed; what is asked
	// for now is detected anew.
	Recompute Outcome = "recompute"
	// Rest: the cluster hibernates, and the operation with it.
	Rest Outcome = "rest"
)

// Sizes are read from the API server immediately before a change.
type Sizes struct {
	// Spec is spec.replicas of the Etcd, StatefulSet that of its StatefulSet.
	Spec, StatefulSet int
}

// CompareScaleIn compares a recorded scale-in with the world. leftover is set if
// own members beyond Spec are still in the live list.
func CompareScaleIn(s Sizes, leftover bool) Outcome {
	switch {
	case s.Spec == 0:
		return Rest
	case s.Spec > s.StatefulSet:
		return Recompute
	case s.Spec < s.StatefulSet || leftover:
		return Proceed
	}
	return Finish
}

// CompareScaleOut compares a recorded scale-out, or a join, with the world. missing
// is set if a member in range is no started voter yet.
func CompareScaleOut(s Sizes, missing bool) Outcome {
	switch {
	case s.Spec == 0:
		return Rest
	case s.Spec < s.StatefulSet:
		return Recompute
	case s.Spec > s.StatefulSet || missing:
		return Proceed
	}
	return Finish
}

// CompareBootstrapRemoval compares a recorded removal of source members with the
// world: those recorded as joined, and the names that the spec lists now.
func CompareBootstrapRemoval(s Sizes, joined, listed []string) Outcome {
	if s.Spec == 0 {
		return Rest
	}
	if slices.ContainsFunc(joined, func(name string) bool { return !slices.Contains(listed, name) }) {
		return Proceed
	}
	return Finish
}
