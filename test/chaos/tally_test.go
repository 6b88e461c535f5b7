package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tally counts what was done, and tells of it as it happens.
type tally struct {
	t     *testing.T
	began time.Time

	mu     sync.Mutex
	counts map[string]int
}

func newTally(t *testing.T) *tally { return &tally{t: t, began: time.Now(), counts: map[string]int{}} }

func (y *tally) add(what, detail string) {
	y.mu.Lock()
	y.counts[what]++
	y.mu.Unlock()
	y.t.Logf("%6.1fs %s: %s", time.Since(y.began).Seconds(), what, detail)
}

func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return list(y.counts)
}

func list(counts map[string]int) string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	return strings.Join(out, "; ")
}

// stream gives each part of a run its own chance, so that what one does next hangs on
// the seed alone, whatever the others do.
func stream(seed uint64, part uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, part)) }

// between is a time from a range.
func between(random *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(random.Int64N(int64(to-from)))
}
