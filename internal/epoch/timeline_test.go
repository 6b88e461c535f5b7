package epoch

import (
	"context"
	"strconv"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestTimeline(t *testing.T) {
	var line Timeline
	for i, c := range []struct {
		version string
		want    bool
	}{
		{"", false}, {"700", false}, {"700", false}, {"900", false}, {"", false}, {"none", false},
		{"850", true}, {"851", false}, {strconv.Itoa(851 + rewindLeap - 1), false}, {strconv.Itoa(850 + 2*rewindLeap + 1000), true},
		{strconv.Itoa(850 + 2*rewindLeap + 1001), false}, {"12", true},
	} {
		if got := line.Rewound(c.version); got != c.want {
			t.Errorf("%d: %q: rewound %t, want %t", i, c.version, got, c.want)
		}
	}
}

// A rewind within a term, as of a cluster that this controller does not run in, has all
// stores asked anew: by a raw snapshot, and by one with a leap.
func TestRewindWithinATerm(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	revision := 5000
	w.gate.live = interceptor.NewClient(w.api, interceptor.Funcs{
		List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := api.List(ctx, list, opts...)
			list.SetResourceVersion(strconv.Itoa(revision))
			return err
		},
	})
	w.waits("factory", "")
	revision = 5700
	w.waits("factory", "")
	w.asks("nightly", 1)
	for n, later := range []int{1_000_005_700, 900} {
		revision, w.marker["nightly"] = later, rewind
		w.waits("factory", restoring1)
		w.waits("", restoring1)
		w.asks("nightly", 2+2*n)
		w.marker["nightly"] = ""
		w.after(markedPause)
		w.waits("factory", "")
		w.asks("nightly", 3+2*n)
	}
}
