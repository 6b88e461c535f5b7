package certs

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Several replicas walk through years of rotations, restarts, outages, requests
// for rotation and deletions of the Secret. At every moment every leaf in use
// verifies against every bundle that an API server may have.
func TestYears(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { walk(t, seed, 2*365) })
		})
	}
}

func walk(t *testing.T, seed uint64, days int) {
	f := &fleet{world: newWorld(seed, yearsPolicy().CallTimeout), t: t, replicas: make([]*replica, 3), proved: map[pair]time.Time{}}
	f.onChange = f.check
	for i := range f.replicas {
		f.start(i)
	}
	for range days {
		<-time.After(24 * time.Hour)
		f.disturb()
		f.check()
	}
	f.calm(10 * 24 * time.Hour)
	for i, r := range f.replicas {
		if err := f.accepted(r.keeper); err != nil {
			t.Errorf("replica %d in calm weather: %v", i, err)
		}
		r.stop()
		<-r.ended
	}
	t.Logf("%d days, %d checks, %d writes, %d bundles", days, f.checks, f.steps, len(f.bundles))
	if want := days / 120; len(f.bundles) < want {
		t.Errorf("the bundle changed %d times in %d days, want at least %d", len(f.bundles), days, want)
	}
}
