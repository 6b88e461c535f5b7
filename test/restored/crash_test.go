package restored

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sampled is how many points an ordinary run has: each takes most of a minute.
const sampled = 2

// A few of the points of TestCrashMatrix, drawn by a seed that is printed.
//
// covers: C-15, C-26
func TestCrashSample(t *testing.T) {
	crashes(t, sampled)
}

// crashes has a restore for each of so many points, and says how they ended.
func crashes(t *testing.T, count uint64) {
	seed := numberOf(t, seedVariable, rand.Uint64())
	count = numberOf(t, countVariable, count)
	t.Logf("%d points, drawn by %s=%d", count, seedVariable, seed)
	ends, missed, began := map[outcome]int{}, []string{}, time.Now()
	for _, p := range points(seed)[:count] {
		ok := t.Run(p.String(), func(t *testing.T) {
			at := time.Now()
			r, end := try(t, p)
			ends[end]++
			if !r.door.reached() && p.seen() {
				missed = append(missed, p.String())
			}
			t.Logf("%s after %s", end, time.Since(at).Round(time.Second))
		})
		if !ok {
			break // it may have left another world
		}
	}
	said := []string{}
	for end, n := range ends {
		said = append(said, fmt.Sprintf("%d: %s", n, end))
	}
	t.Logf("%d points in %s: %s", count, time.Since(began).Round(time.Second), strings.Join(said, "; "))
	if len(missed) > 0 {
		t.Errorf("no such call was made: %s", strings.Join(missed, "; "))
	}
}
