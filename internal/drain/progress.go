package drain

import "slices"

// Progress is what one look at a Node saw. Both lists are sorted.
type Progress struct {
	// Left are the pods that have to go and are still there: namespace/name.
	Left []string
	// Blocked are those of Left that the API server does not evict now, each with
	// its words, such as a PodDisruptionBudget: "namespace/name: text".
	Blocked []string
	unknown bool
}

// unseen is a look that did not come as far as the pods.
var unseen = Progress{unknown: true}

// Done says that no pod is left that has to go.
func (p Progress) Done() bool { return !p.unknown && len(p.Left) == 0 }

func (p Progress) sorted() Progress {
	slices.Sort(p.Left)
	slices.Sort(p.Blocked)
	return p
}
