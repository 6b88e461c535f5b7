//go:build crash

package machines

import (
	"fmt"
	"testing"
)

// sideBySide is how many fleets each way has.
const sideBySide = 2

// TestCrashMatrix kills the controllers before and after each of their calls that a
// removal makes: to machines, to etcd, and to the API server if it changes something
// there (dying at another read is dying between two calls). It kills them in the middle
// of a leave and of a removal too. Whoever follows ends the removal, and none is sent
// for a member that is gone.
//
// covers: B-4, B-7, B-8, B-9, B-14
func TestCrashMatrix(t *testing.T) {
	withoutControllers(t, func() {
		t.Run("ways", func(t *testing.T) {
			for _, w := range ways {
				t.Run(w.name, func(t *testing.T) {
					t.Parallel()
					everyDeath(t, w)
				})
			}
		})
	})
}

// everyDeath counts the calls of a removal without one, and has as many removals as
// that has points.
func everyDeath(t *testing.T, w *way) {
	var c *crashes
	t.Run("no death", func(t *testing.T) {
		calls, _ := newLane(t, w).dies(t, point{})
		points := w.points(calls)
		t.Logf("%s: %d calls, %d deaths", w.name, len(calls), len(points))
		c = newCrashes(w, points)
	})
	if c == nil {
		return
	}
	t.Run("deaths", func(t *testing.T) {
		for i := range sideBySide {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				t.Parallel()
				c.lane(t)
			})
		}
	})
	c.report(t)
}
