package guard

import (
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Operation is a membership change as status records it.
type Operation struct {
	Type v1alpha1.ScaleOperationType
	// From is the size before, 0 for a creation and for a join; To the one asked for.
	From, To int
}

// Recorded is what detection looks at: spec, StatefulSet and status. It never needs
// etcd, so an outage of etcd cannot hold it up.
type Recorded struct {
	// Spec is spec.replicas.
	Spec int
	// Exists tells whether there is a StatefulSet, and StatefulSet its size.
	Exists      bool
	StatefulSet int
	// Formed is set once a cluster ID is recorded.
	Formed bool
	// LastSize is the last size above 0 that a reconcile saw; 0 if there was none.
	LastSize int
	// Operation is the recorded one; nil for none.
	Operation *Operation
	// Leftover is set if the status flow saw own members beyond Spec for a while.
	Leftover bool
	// Joined names the source members that are recorded as joined, and Listed those
	// that the spec lists now.
	Joined, Listed []string
	// Joining is set from the creation of an Etcd with a source until all its members
	// are voters of the source's cluster.
	Joining bool
}

// Size is the number of members that run, or that are to run again where the
// StatefulSet is lost or at 0: both ends of a change that had not ended, since new
// members may have voted already, and old ones may still be listed.
func (r Recorded) Size() int {
	switch {
	case r.Exists && r.StatefulSet > 0:
		return r.StatefulSet
	case r.Operation != nil:
		return max(r.Operation.From, r.Operation.To)
	case r.LastSize > 0:
		return r.LastSize
	}
	return r.Spec
}

// begun tells whether anything of the cluster is there.
func (r Recorded) begun() bool { return r.Formed || r.Exists && r.StatefulSet > 0 }

// Detect answers the membership change that is on its way or has to begin; nil for
// none. At 0 the cluster hibernates, and a recorded change sleeps with it.
func Detect(r Recorded) *Operation {
	switch {
	case r.Spec == 0:
		return r.Operation
	case r.Operation == nil && !r.begun(), r.Operation.creation() && !r.begun() && !r.Exists:
		return &Operation{v1alpha1.ScaleOut, 0, r.Spec}
	case r.Operation.creation() && !r.begun():
		return r.Operation // its founders may have been told already
	case r.Operation == nil:
		return r.fresh()
	}
	return r.again(*r.Operation)
}

func (o *Operation) creation() bool {
	return o != nil && o.Type == v1alpha1.ScaleOut && o.From == 0
}

// fresh detects where nothing is recorded.
func (r Recorded) fresh() *Operation {
	size := r.Size()
	switch {
	case r.Joining:
		return &Operation{v1alpha1.ScaleOut, 0, r.Spec}
	case r.Spec > size:
		return &Operation{v1alpha1.ScaleOut, size, r.Spec}
	case r.Spec < size || r.Leftover:
		return &Operation{v1alpha1.ScaleIn, size, r.Spec}
	case r.leaving():
		return &Operation{v1alpha1.RemoveBootstrapMembers, size, size}
	}
	return nil
}

func (r Recorded) leaving() bool {
	return slices.ContainsFunc(r.Joined, func(name string) bool { return !slices.Contains(r.Listed, name) })
}

// again looks at a recorded change once more. Whether it has ended takes the live
// list, and so is not decided here, but for one that was taken back before it was
// recorded: nothing can have happened then, since admission refuses that later.
func (r Recorded) again(o Operation) *Operation {
	size := r.Size()
	switch o.Type {
	case v1alpha1.ScaleIn:
		switch {
		case r.Spec > size:
			return r.without().fresh()
		case r.Spec == o.From && r.Spec == size && !r.Leftover:
			return r.without().fresh()
		}
		o.To = r.Spec
	case v1alpha1.ScaleOut:
		switch {
		case r.Spec < size:
			return &Operation{v1alpha1.ScaleIn, size, r.Spec}
		case r.Spec == o.From && r.Spec == size:
			return r.without().fresh()
		case o.From == 0 && !r.Joining: // the founders stay who they are
		default:
			o.To = r.Spec
		}
	case v1alpha1.RemoveBootstrapMembers:
		if !r.leaving() {
			return r.without().fresh()
		}
	}
	return &o
}

func (r Recorded) without() Recorded {
	r.Operation = nil
	return r
}
