package guard

import "testing"

//
func TestCompareScaling(t *testing.T) {
	for _, c := range []struct {
		name    string
		sizes   Sizes
		pending bool
		in, out Outcome // pending: a leftover, or a member that is missing
	}{
		{"lower than the StatefulSet", Sizes{3, 5}, false, Proceed, Recompute},
		{"lower, with members beyond", Sizes{3, 5}, true, Proceed, Recompute},
		{"equal", Sizes{3, 3}, false, Finish, Finish},
		{"equal, and something is pending", Sizes{3, 3}, true, Proceed, Proceed},
		{"higher", Sizes{5, 3}, false, Recompute, Proceed},
		{"higher, and something is pending", Sizes{5, 3}, true, Recompute, Proceed},
		{"hibernating", Sizes{0, 3}, true, Rest, Rest},
		{"hibernated", Sizes{0, 0}, false, Rest, Rest},
	} {
		if got := CompareScaleIn(c.sizes, c.pending); got != c.in {
			t.Errorf("%s: a scale-in is to %s, not to %s", c.name, c.in, got)
		}
		if got := CompareScaleOut(c.sizes, c.pending); got != c.out {
			t.Errorf("%s: a scale-out is to %s, not to %s", c.name, c.out, got)
		}
	}
}

//
func TestCompareBootstrapRemoval(t *testing.T) {
	for _, c := range []struct {
		name           string
		sizes          Sizes
		joined, listed []string
		want           Outcome
	}{
		{"one left the list", Sizes{3, 3}, []string{"s0", "s1"}, []string{"s0"}, Proceed},
		{"unset", Sizes{3, 3}, []string{"s0"}, nil, Proceed},
		{"put back", Sizes{3, 3}, []string{"s0", "s1"}, []string{"s1", "s0"}, Finish},
		{"all removed", Sizes{3, 3}, nil, nil, Finish},
		{"hibernating", Sizes{0, 3}, []string{"s0"}, nil, Rest},
	} {
		if got := CompareBootstrapRemoval(c.sizes, c.joined, c.listed); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}
