package guard

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

func op(kind v1alpha1.ScaleOperationType, from, to int) *Operation { return &Operation{kind, from, to} }

//
func TestDetect(t *testing.T) {
	in, out, leave := v1alpha1.ScaleIn, v1alpha1.ScaleOut, v1alpha1.RemoveBootstrapMembers
	runs := func(spec, size int, o *Operation) Recorded {
		return Recorded{Spec: spec, Exists: true, StatefulSet: size, Formed: true, LastSize: size, Operation: o}
	}
	with := func(r Recorded, change func(*Recorded)) Recorded {
		change(&r)
		return r
	}
	for name, tt := range map[string]struct {
		r    Recorded
		want *Operation
	}{
		"nothing to do": {runs(3, 3, nil), nil},
		"a creation":    {Recorded{Spec: 3}, op(out, 0, 3)},
		"a creation changed before anything began":  {Recorded{Spec: 5, Operation: op(out, 0, 3)}, op(out, 0, 5)},
		"a creation keeps its founders":             {Recorded{Spec: 5, Exists: true, StatefulSet: 3, Operation: op(out, 0, 3)}, op(out, 0, 3)},
		"a creation that slept keeps its founders":  {Recorded{Spec: 3, Exists: true, LastSize: 3, Operation: op(out, 0, 3)}, op(out, 0, 3)},
		"a creation given up":                       {Recorded{Spec: 1, Exists: true, StatefulSet: 3, Operation: op(out, 0, 3)}, op(in, 3, 1)},
		"given up, asleep, and woken":               {Recorded{Spec: 1, Exists: true, LastSize: 1, Operation: op(in, 3, 1)}, op(in, 3, 1)},
		"created at 0":                              {Recorded{Spec: 0}, nil},
		"more":                                      {runs(5, 3, nil), op(out, 3, 5)},
		"fewer":                                     {runs(1, 3, nil), op(in, 3, 1)},
		"more on the way":                           {runs(5, 5, op(out, 3, 5)), op(out, 3, 5)},
		"even more on the way":                      {runs(7, 5, op(out, 3, 5)), op(out, 3, 7)},
		"fewer on the way":                          {runs(3, 5, op(in, 5, 3)), op(in, 5, 3)},
		"even fewer on the way":                     {runs(1, 5, op(in, 5, 3)), op(in, 5, 1)},
		"fewer, and the size is set":                {runs(3, 3, op(in, 5, 3)), op(in, 5, 3)},
		"fewer, taken back":                         {runs(3, 3, op(in, 3, 2)), nil},
		"fewer, reversed":                           {runs(4, 3, op(in, 3, 2)), op(out, 3, 4)},
		"more, taken back":                          {runs(3, 3, op(out, 3, 5)), nil},
		"more, given up":                            {runs(3, 5, op(out, 3, 5)), op(in, 5, 3)},
		"to 0 with nothing on the way":              {runs(0, 3, nil), nil},
		"to 0 with a removal half done":             {runs(0, 5, op(in, 5, 3)), op(in, 5, 3)},
		"woken at its size":                         {with(runs(3, 0, nil), func(r *Recorded) { r.LastSize = 3 }), nil},
		"woken smaller than it was put to sleep":    {with(runs(1, 0, nil), func(r *Recorded) { r.LastSize = 3 }), op(in, 3, 1)},
		"a lost StatefulSet":                        {with(runs(3, 0, nil), func(r *Recorded) { r.Exists, r.LastSize = false, 3 }), nil},
		"members left over":                         {with(runs(3, 3, nil), func(r *Recorded) { r.Leftover = true }), op(in, 3, 3)},
		"members left over and on their way":        {with(runs(3, 3, op(in, 3, 3)), func(r *Recorded) { r.Leftover = true }), op(in, 3, 3)},
		"a join":                                    {with(runs(3, 3, nil), func(r *Recorded) { r.Joining = true }), op(out, 0, 3)},
		"a join that grows":                         {with(runs(5, 3, op(out, 0, 3)), func(r *Recorded) { r.Joining = true }), op(out, 0, 5)},
		"a join given up":                           {with(runs(1, 3, op(out, 0, 3)), func(r *Recorded) { r.Joining = true }), op(in, 3, 1)},
		"a source member taken off":                 {with(runs(3, 3, nil), func(r *Recorded) { r.Joined, r.Listed = []string{"a", "b"}, []string{"b"} }), op(leave, 3, 3)},
		"all taken off":                             {with(runs(3, 3, nil), func(r *Recorded) { r.Joined = []string{"a", "b"} }), op(leave, 3, 3)},
		"never joined, and so never unset":          {runs(3, 3, nil), nil},
		"one taken off, and put back in time":       {with(runs(3, 3, op(leave, 3, 3)), func(r *Recorded) { r.Joined, r.Listed = []string{"a"}, []string{"a"} }), nil},
		"fewer, and one taken off: one at a time":   {with(runs(1, 3, nil), func(r *Recorded) { r.Joined = []string{"a"} }), op(in, 3, 1)},
		"one taken off on the way, and fewer in it": {with(runs(1, 3, op(leave, 3, 3)), func(r *Recorded) { r.Joined = []string{"a"} }), op(leave, 3, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			got := Detect(tt.r)
			if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A cluster that sleeps in the middle of a change wakes with every member that the
// change may have left or made: fewer may be no quorum.
func TestTargetSize(t *testing.T) {
	in, out := v1alpha1.ScaleIn, v1alpha1.ScaleOut
	quorate := Progress{Seen: true, Quorate: true}
	beyond := Progress{Seen: true, Quorate: true, Beyond: true}
	for name, tt := range map[string]struct {
		spec, size int
		o          *Operation
		p          Progress
		want       int
	}{
		"nothing to do":                      {3, 3, nil, quorate, 3},
		"asleep":                             {0, 3, nil, quorate, 0},
		"woken":                              {3, 0, nil, Progress{}, 3},
		"woken in a scale-in":                {3, 0, op(in, 5, 3), Progress{}, 5},
		"woken in a scale-out":               {3, 0, op(out, 1, 3), Progress{}, 3},
		"created":                            {3, 0, op(out, 0, 3), Progress{}, 3},
		"a scale-out of a cluster in quorum": {5, 3, op(out, 3, 5), quorate, 5},
		"a scale-out without a quorum":       {5, 3, op(out, 3, 5), Progress{Seen: true}, 3},
		"a scale-in with members beyond":     {3, 5, op(in, 5, 3), beyond, 5},
		"a scale-in without a list":          {3, 5, op(in, 5, 3), Progress{}, 5},
		"a scale-in with none beyond":        {3, 5, op(in, 5, 3), quorate, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := Recorded{Spec: tt.spec, Exists: true, StatefulSet: tt.size, Formed: true, LastSize: 3, Operation: tt.o}
			if got := TargetSize(r, tt.p); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestMayRestart(t *testing.T) {
	voters := func(healthy ...bool) (out []Member) {
		for i, h := range healthy {
			out = append(out, Member{ID: uint64(i + 1), Name: string(rune('a' + i)), Started: true, Healthy: h})
		}
		return out
	}
	for name, tt := range map[string]struct {
		members []Member
		safe    bool
		why     string
	}{
		"one of three":            {voters(true, true, true), true, "3 of 3 voters healthy, quorum 2"},
		"one of three, one ill":   {voters(true, true, false), false, "without a there would be no quorum: 2 of 3 voters healthy, quorum 2; heal c"},
		"an ill one":              {voters(false, true, true), true, "it takes no part in the quorum"},
		"the only one":            {voters(true), true, "1 of 1 voters healthy, quorum 1, and so few tolerate no failure"},
		"one of two":              {voters(true, true), true, "2 of 2 voters healthy, quorum 2, and so few tolerate no failure"},
		"one of two, one ill":     {voters(true, false), false, "without a there would be no quorum: 1 of 2 voters healthy, quorum 2; heal b"},
		"one that is not listed":  {voters(), true, "it takes no part in the quorum"},
		"one of four, none to go": {voters(true, true, true, false), false, "without a there would be no quorum: 3 of 4 voters healthy, quorum 3; heal d"},
	} {
		t.Run(name, func(t *testing.T) {
			if safe, why := MayRestart(tt.members, 1); safe != tt.safe || why != tt.why {
				t.Errorf("got %t %q, want %t %q", safe, why, tt.safe, tt.why)
			}
		})
	}
}
