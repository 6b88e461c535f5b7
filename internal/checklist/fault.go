package checklist

import (
	"cmp"
	"fmt"
	"slices"
)

// Fault is something that makes the checklist fail.
type Fault struct {
	// File is relative to the repository's root; Line counts from 1.
	File string
	Line int
	// Text says what is wrong and what to do.
	Text string
}

// String is in the form that editors jump to.
func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

func sorted(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return faults
}
