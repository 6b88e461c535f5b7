package guard

import "github.com/quorate/quorate/api/v1alpha1"

// Progress is what the live world says of a membership change.
type Progress struct {
	// Quorate is set if the live list was read and enough voters are healthy.
	Quorate bool
	// Seen is set if the live list was read.
	Seen bool
	// Beyond tells whether own members beyond the size asked for are still listed.
	Beyond bool
	// Missing tells whether a place that is asked for and runs has no started voter yet.
	Missing bool
	// Remains tells whether pods or volumes beyond the size asked for are still there.
	Remains bool
}

// TargetSize is how many replicas the StatefulSet is to have now. It is lowered once
// no surplus member is listed any more, and raised, but for a creation, only by a
// cluster that has a quorum. A cluster that wakes comes back with every member that a
// change may have left or made.
func TargetSize(r Recorded, p Progress) int {
	size := r.Size()
	switch {
	case r.Spec == 0:
		return 0
	case r.Operation == nil || size != r.StatefulSet:
		return size
	}
	switch r.Operation.Type {
	case v1alpha1.ScaleIn:
		if p.Seen && !p.Beyond && r.Spec < size {
			return r.Spec
		}
	case v1alpha1.ScaleOut:
		if p.Quorate && r.Operation.To > size {
			return r.Operation.To
		}
	}
	return size
}

// Ended tells whether a recorded change has nothing left to do.
func Ended(r Recorded, p Progress) bool {
	if r.Operation == nil || r.Spec == 0 || !p.Seen || r.Size() != r.StatefulSet {
		return false
	}
	switch r.Operation.Type {
	case v1alpha1.ScaleIn:
		return r.StatefulSet == r.Spec && !p.Beyond && !p.Remains
	case v1alpha1.ScaleOut:
		return r.StatefulSet == r.Operation.To && !p.Missing
	}
	return !r.leaving()
}
