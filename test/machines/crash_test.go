package machines

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// seedVariable repeats a draw.
const seedVariable = "QUORATE_CRASH_SEED"

// Deaths of the controllers at some calls of a removal, drawn by a seed; one of them in
// the middle of a leave, after its member is gone. `make test-crash` has them all.
//
// covers: B-4, B-7, B-8, B-14
func TestCrashSample(t *testing.T) {
	seed := seedOf(t)
	draw := rand.New(rand.NewPCG(seed, 0))
	var lanes []*crashes
	total := 0
	for i, w := range ways {
		drawn := w.draw(draw)
		if i == 0 {
			drawn = append([]point{w.amid()[1]}, drawn...)
		}
		lanes = append(lanes, newCrashes(w, drawn[:w.sampled]), newCrashes(w, drawn[w.sampled:2*w.sampled]))
		total += 2 * w.sampled
	}
	t.Logf("%d deaths, drawn by %s=%d", total, seedVariable, seed)
	withoutControllers(t, func() {
		t.Run("lanes", func(t *testing.T) {
			for i, c := range lanes {
				t.Run(fmt.Sprint(i+1), func(t *testing.T) {
					t.Parallel()
					c.lane(t)
					for _, p := range c.missed {
						t.Errorf("%s: nobody was %s", c.way.name, p)
					}
				})
			}
		})
	})
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	text, set := os.LookupEnv(seedVariable)
	if !set {
		return rand.Uint64()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	must(t, err)
	return seed
}

// draw has the deaths at the first calls of each kind, and amid calls, in an order by
// chance.
func (w *way) draw(draw *rand.Rand) []point {
	all := w.points(w.must)
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// withoutControllers runs a part of a test while the shared controllers are dead.
func withoutControllers(t *testing.T, part func()) {
	t.Helper()
	killControllers(t)
	defer func() {
		takeOver(t)
		startControllers(t)
	}()
	part()
}

// crashes are deaths on one way, for some lanes.
type crashes struct {
	way   *way
	queue chan point

	mu     sync.Mutex
	met    []point
	missed []point // the removal ended without
}

func newCrashes(w *way, points []point) *crashes {
	c := &crashes{way: w, queue: make(chan point, len(points))}
	for _, p := range points {
		c.queue <- p
	}
	close(c.queue)
	return c
}

// lane has deaths until none is left. A failure ends it: it left a world of its own.
func (c *crashes) lane(t *testing.T) {
	var l *lane
	for p := range c.queue {
		switch {
		case l == nil:
			l = newLane(t, c.way)
		default:
			l.again()
		}
		if !t.Run(p.String(), func(t *testing.T) { c.note(p, l.meets(t, p)) }) {
			return
		}
	}
}

// meets tells whether the process died there.
func (l *lane) meets(t *testing.T, p point) bool {
	_, reached := l.dies(t, p)
	return reached
}

func (c *crashes) note(p point, reached bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reached {
		c.met = append(c.met, p)
	} else {
		c.missed = append(c.missed, p)
	}
}

// report tells what was met, and wants the deaths that must be among it.
func (c *crashes) report(t *testing.T) {
	t.Helper()
	kinds := map[string]int{}
	for _, p := range c.met {
		kinds[p.what]++
	}
	t.Logf("%s: %d deaths, at %d kinds of calls: %v", c.way.name, len(c.met), len(kinds), kinds)
	for _, p := range c.missed {
		t.Logf("%s: the removal made no such call: %s", c.way.name, p)
	}
	for _, want := range c.way.points(c.way.must) {
		if !slices.Contains(c.met, want) && !t.Failed() {
			t.Errorf("%s: nobody was %s", c.way.name, want)
		}
	}
}
